import FuzzDriver
import FuzzEntryPoints

try fuzz(
    { data, count in
        FuzzEntryPoints.signature(input(data, count))
        return 0
    }, seeds: FuzzEntryPoints.Seeds.signature)
