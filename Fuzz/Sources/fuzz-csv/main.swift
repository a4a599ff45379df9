import FuzzDriver
import FuzzEntryPoints

try fuzz(
    { data, count in
        FuzzEntryPoints.csv(input(data, count))
        return 0
    }, seeds: FuzzEntryPoints.Seeds.csv)
