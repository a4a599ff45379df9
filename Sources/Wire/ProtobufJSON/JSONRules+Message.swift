import JSON
import Protobuf

extension JSONRules {
    /// For messages, which are nested no deeper than their encoded form may be.
    static let message = {
        var rules = JSONRules.json
        rules.maximumDepth = ProtobufReader.depthLimit
        return rules
    }()
}
