/// The reason why bytes are not a protobuf message. Decoding throws no other error.
public enum DecodingError: Error, Sendable, Hashable {
    /// The bytes end inside a field, or a length exceeds the rest of the bytes.
    case truncated
    /// A varint of more than ten bytes, or of more than 64 bits.
    case malformedVarint
    /// A tag whose field number is 0 or above 2²⁹−1, or whose wire type (6, 7) does not exist.
    case invalidTag
    /// A packed field of fixed-width values whose length is not a multiple of that width.
    case invalidPackedLength
    /// A `string` that is not UTF-8.
    case invalidUTF8
    /// The end of a group that did not begin, or with another group's number.
    case unbalancedGroup
    /// Messages or groups nested more than `ProtobufReader.depthLimit` deep.
    case tooDeep
    /// A message of more than `ProtobufReader.sizeLimit` bytes.
    case tooLarge
}
