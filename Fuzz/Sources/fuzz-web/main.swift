import FuzzDriver
import FuzzEntryPoints

try fuzz(
    { data, count in
        FuzzEntryPoints.web(input(data, count))
        return 0
    }, seeds: FuzzEntryPoints.Seeds.web)
