import FuzzDriver
import FuzzEntryPoints

try fuzz(
    { data, count in
        FuzzEntryPoints.xml(input(data, count))
        return 0
    }, seeds: FuzzEntryPoints.Seeds.xml)
