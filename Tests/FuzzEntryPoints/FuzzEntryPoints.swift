import WireTesting

/// The properties of the parsers, with one function for each fuzz target. Each property holds for any bytes; a violation traps.
///
/// The fuzzers' package cannot use declarations with `package` access, so it reaches the parsers through this product.
public enum FuzzEntryPoints {
    public static func protobuf(_ input: [UInt8]) { CodecProperties.checkProtobuf(input) }

    public static func json(_ input: [UInt8]) { CodecProperties.checkJSON(input) }

    public static func web(_ input: [UInt8]) { WebProperties.check(input) }

    public static func xml(_ input: [UInt8]) { XMLProperties.check(input) }

    public static func rest(_ input: [UInt8]) { RESTProperties.check(input) }

    public static func filter(_ input: [UInt8]) { FilterProperties.check(input) }

    public static func zip(_ input: [UInt8]) { ZipProperties.check(input) }

    public static func identity(_ input: [UInt8]) { IdentityProperties.check(input) }

    public static func mcap(_ input: [UInt8]) { MCAPProperties.check(input) }

    public static func picture(_ input: [UInt8]) { PictureProperties.check(input) }

    /// The seed inputs of the fuzzers.
    public enum Seeds {
        public static var protobuf: [[UInt8]] { CodecProperties.seeds().protobuf }
        public static var json: [[UInt8]] { CodecProperties.seeds().json }
        public static var web: [[UInt8]] { WebProperties.seeds }
        public static var xml: [[UInt8]] { XMLProperties.seeds }
        public static var rest: [[UInt8]] { RESTProperties.seeds }
        public static var filter: [[UInt8]] { FilterProperties.seeds }
        public static var identity: [[UInt8]] { IdentityProperties.seeds }
        public static var zip: [[UInt8]] { ZipProperties.seeds }
        public static var mcap: [[UInt8]] { MCAPProperties.seeds }
        public static var picture: [[UInt8]] { PictureProperties.seeds }
    }
}
