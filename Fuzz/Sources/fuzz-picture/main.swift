import FuzzDriver
import FuzzEntryPoints

try fuzz(
    { data, count in
        FuzzEntryPoints.picture(input(data, count))
        return 0
    }, seeds: FuzzEntryPoints.Seeds.picture)
