import FuzzDriver
import FuzzEntryPoints

try fuzz(
    { data, count in
        FuzzEntryPoints.zip(input(data, count))
        return 0
    }, seeds: FuzzEntryPoints.Seeds.zip)
