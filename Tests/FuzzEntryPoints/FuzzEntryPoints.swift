import WireTesting

/// The parsers' properties, one function a fuzz target. Each holds for any bytes at all; one that does not hold traps.
///
/// A package of its own cannot reach what has `package` access: the fuzzers' package sees the parsers through this product.
public enum FuzzEntryPoints {
    public static func protobuf(_ input: [UInt8]) { CodecProperties.checkProtobuf(input) }

    public static func json(_ input: [UInt8]) { CodecProperties.checkJSON(input) }

    public static func web(_ input: [UInt8]) { WebProperties.check(input) }

    public static func xml(_ input: [UInt8]) { XMLProperties.check(input) }

    public static func rest(_ input: [UInt8]) { RESTProperties.check(input) }

    public static func filter(_ input: [UInt8]) { FilterProperties.check(input) }

    /// The inputs that the fuzzers begin with.
    public enum Seeds {
        public static var protobuf: [[UInt8]] { CodecProperties.seeds().protobuf }
        public static var json: [[UInt8]] { CodecProperties.seeds().json }
        public static var web: [[UInt8]] { WebProperties.seeds }
        public static var xml: [[UInt8]] { XMLProperties.seeds }
        public static var rest: [[UInt8]] { RESTProperties.seeds }
        public static var filter: [[UInt8]] { FilterProperties.seeds }
    }
}
