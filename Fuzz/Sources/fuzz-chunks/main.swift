import FuzzDriver
import FuzzEntryPoints

try fuzz(
    { data, count in
        FuzzEntryPoints.chunks(input(data, count))
        return 0
    }, seeds: FuzzEntryPoints.Seeds.chunks)
