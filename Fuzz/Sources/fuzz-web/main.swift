import FuzzDriver
import WireTesting

try fuzz(
    { data, count in
        WebProperties.check(input(data, count))
        return 0
    }, seeds: { WebProperties.seeds })
