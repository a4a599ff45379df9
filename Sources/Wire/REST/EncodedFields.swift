import Protobuf

/// Looks into an encoded message without its type.
package enum EncodedFields {
    /// The last value of a length-delimited field; empty where it is not there, or the message is malformed.
    package static func bytes(_ number: UInt32, of message: ArraySlice<UInt8>) -> [UInt8] {
        var found: [UInt8] = []
        message.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            var reader = ProtobufReader(start: start, count: bytes.count)
            do throws(DecodingError) {
                while let tag = try reader.nextTag() {
                    if tag == number << 3 | WireType.delimited {
                        found = [UInt8](try reader.delimited())
                    } else {
                        try reader.skip(tag)
                    }
                }
            } catch {
                found = []
            }
        }
        return found
    }
}
