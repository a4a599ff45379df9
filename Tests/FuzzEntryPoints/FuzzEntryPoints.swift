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

    public static func form(_ input: [UInt8]) { FormProperties.check(input) }

    public static func policy(_ input: [UInt8]) { PolicyProperties.check(input) }

    public static func chunks(_ input: [UInt8]) { ChunkProperties.check(input) }

    public static func signature(_ input: [UInt8]) { SignatureProperties.check(input) }

    public static func request(_ input: [UInt8]) { RequestProperties.check(input) }

    public static func csv(_ input: [UInt8]) { CSVProperties.check(input) }

    public static func zone(_ input: [UInt8]) { TimeZoneProperties.check(input) }

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
        public static var form: [[UInt8]] { FormProperties.seeds }
        public static var policy: [[UInt8]] { PolicyProperties.seeds }
        public static var chunks: [[UInt8]] { ChunkProperties.seeds }
        public static var signature: [[UInt8]] { SignatureProperties.seeds }
        public static var request: [[UInt8]] { RequestProperties.seeds }
        public static var csv: [[UInt8]] { CSVProperties.seeds }
        public static var zone: [[UInt8]] { TimeZoneProperties.seeds }
    }
}
