import Basics

/// The last message of a Connect stream: `{"error":{…},"metadata":{"name":["value"]}}` after a prefix with the flag 2 (Connect
/// protocol, "Streaming-Response", EndStreamResponse).
public enum ConnectEndOfStream {
    private static let flag: UInt8 = 2

    public static func frame(_ error: ConnectError?, metadata: Metadata) -> [UInt8] {
        var frame = [UInt8](repeating: 0, count: MessagePrefix.byteCount)
        frame.append(UInt8(ascii: "{"))
        if let error {
            frame += "\"error\":".utf8
            frame += error.json
        }
        if !metadata.isEmpty {
            if error != nil { frame.append(UInt8(ascii: ",")) }
            frame += "\"metadata\":".utf8
            write(metadata, to: &frame)
        }
        frame.append(UInt8(ascii: "}"))
        MessagePrefix.write(to: &frame)
        frame[0] = flag
        return frame
    }

    private static func write(_ metadata: Metadata, to output: inout [UInt8]) {
        var names: [String] = []
        for (name, _) in metadata.pairs where !names.contains(name) { names.append(name) }
        output.append(UInt8(ascii: "{"))
        for (index, name) in names.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            JSONText.quote(name, to: &output)
            output += ":[".utf8
            for (index, value) in metadata.values(name).enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                JSONText.quote(value, to: &output)
            }
            output.append(UInt8(ascii: "]"))
        }
        output.append(UInt8(ascii: "}"))
    }
}
