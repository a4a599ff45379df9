import FuzzDriver
import FuzzEntryPoints

try fuzz(
    { data, count in
        FuzzEntryPoints.json(input(data, count))
        return 0
    }, seeds: FuzzEntryPoints.Seeds.json)
