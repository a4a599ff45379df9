import FuzzDriver
import FuzzEntryPoints

try fuzz(
    { data, count in
        FuzzEntryPoints.identity(input(data, count))
        return 0
    }, seeds: FuzzEntryPoints.Seeds.identity)
