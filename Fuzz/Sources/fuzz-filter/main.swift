import FuzzDriver
import FuzzEntryPoints

try fuzz(
    { data, count in
        FuzzEntryPoints.filter(input(data, count))
        return 0
    }, seeds: FuzzEntryPoints.Seeds.filter)
