import FuzzDriver
import FuzzEntryPoints

try fuzz(
    { data, count in
        FuzzEntryPoints.zone(input(data, count))
        return 0
    }, seeds: FuzzEntryPoints.Seeds.zone)
