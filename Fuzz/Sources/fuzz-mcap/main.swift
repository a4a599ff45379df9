import FuzzDriver
import FuzzEntryPoints

try fuzz(
    { data, count in
        FuzzEntryPoints.mcap(input(data, count))
        return 0
    }, seeds: FuzzEntryPoints.Seeds.mcap)
