import FuzzDriver
import FuzzEntryPoints

try fuzz(
    { data, count in
        FuzzEntryPoints.policy(input(data, count))
        return 0
    }, seeds: FuzzEntryPoints.Seeds.policy)
