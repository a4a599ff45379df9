import FuzzDriver
import WireTesting

try fuzz(
    { data, count in
        CodecProperties.checkJSON(input(data, count))
        return 0
    }, seeds: { CodecProperties.seeds().json })
