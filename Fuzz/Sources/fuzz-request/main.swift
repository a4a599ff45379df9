import FuzzDriver
import FuzzEntryPoints

try fuzz(
    { data, count in
        FuzzEntryPoints.request(input(data, count))
        return 0
    }, seeds: FuzzEntryPoints.Seeds.request)
