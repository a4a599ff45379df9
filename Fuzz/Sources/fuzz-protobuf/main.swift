import FuzzDriver
import FuzzEntryPoints

try fuzz(
    { data, count in
        FuzzEntryPoints.protobuf(input(data, count))
        return 0
    }, seeds: FuzzEntryPoints.Seeds.protobuf)
