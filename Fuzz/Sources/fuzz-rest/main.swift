import FuzzDriver
import FuzzEntryPoints

try fuzz(
    { data, count in
        FuzzEntryPoints.rest(input(data, count))
        return 0
    }, seeds: FuzzEntryPoints.Seeds.rest)
