import FuzzDriver
import WireTesting

try fuzz(
    { data, count in
        CodecProperties.checkProtobuf(input(data, count))
        return 0
    }, seeds: { CodecProperties.seeds().protobuf })
