import Checksums
import FileTesting
import Foundation

/// The contents of the showcase's files.
enum Recordings {
    /// The sensors of a recording, by their topics.
    static let topics = ["/camera/front", "/imu", "/gps/fix"]

    /// Returns a recording in the MCAP format, whose messages are in JSON as Foxglove's schemas describe them.
    ///
    /// - Parameters:
    ///   - start: its first message, in nanoseconds since 1970.
    ///   - seconds: its length.
    ///   - picture: the frame of its camera; empty = it has none.
    static func mcap(start: UInt64, seconds: Int, latitude: Double, longitude: Double, picture: [UInt8]) -> [UInt8] {
        let frame = Data(picture).base64EncodedString()
        var records: [UInt8] = []
        var (messages, last) = (UInt64(0), start)
        for step in 0...seconds {
            last = start + UInt64(step) * 1_000_000_000
            let second = Double(step)
            let (turn, place) = (sin(second / 9), (latitude + second * 1e-5, longitude + second * 2e-5))
            var texts = [
                (
                    UInt64(2),
                    "{\"angular_velocity\":{\"x\":0,\"y\":0,\"z\":\(turn)},\"linear_acceleration\":{\"z\":9.81}}"
                ),
                (3, "{\"latitude\":\(place.0),\"longitude\":\(place.1),\"altitude\":112}"),
            ]
            if !picture.isEmpty { texts.insert((1, "{\"format\":\"png\",\"data\":\"\(frame)\"}"), at: 0) }
            for (channel, text) in texts {
                records += MCAPFile.message(at: last, channel, data: Array(text.utf8))
                messages += 1
            }
        }
        let schemas = [(1, "foxglove.CompressedImage"), (2, "foxglove.Imu"), (3, "foxglove.LocationFix")].flatMap {
            MCAPFile.record(
                3,
                MCAPFile.number(UInt64($0.0), 2) + MCAPFile.text($0.1) + MCAPFile.text("jsonschema")
                    + MCAPFile.text("{\"type\":\"object\"}"))
        }
        let channels = topics.enumerated().flatMap { number, topic in
            MCAPFile.record(
                4,
                MCAPFile.number(UInt64(number + 1), 2) + MCAPFile.number(UInt64(number + 1), 2) + MCAPFile.text(topic)
                    + MCAPFile.text("json") + MCAPFile.number(0, 4))
        }
        let chunk = MCAPFile.chunk(schemas + channels + records, start, last)
        return MCAPFile.file(
            chunk,
            [
                schemas, channels,
                MCAPFile.statistics(messages: messages, channels: UInt64(topics.count), start, last),
            ])
    }

    /// Returns a picture of a field: uncompressed, in one color with a darker horizon.
    static func png(width: Int, height: Int, hue: UInt8) -> [UInt8] {
        func big(_ value: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        func checksum(_ bytes: [UInt8]) -> UInt32 {
            var crc = CRC32()
            bytes.withUnsafeBytes { crc.update($0) }
            return crc.value
        }
        func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
            let body = Array(type.utf8) + content
            return big(content.count) + body + big(Int(checksum(body)))
        }
        var pixels: [UInt8] = []
        for row in 0..<height {
            let shade = UInt8(row < height / 3 ? 220 : 90 + row * 60 / height)
            pixels.append(0)
            for _ in 0..<width { pixels += [shade / 2, shade, hue] }
        }
        var (deflated, rest): ([UInt8], ArraySlice<UInt8>) = ([0x78, 0x01], pixels[...])
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            let (low, high) = (UInt8(block.count & 0xFF), UInt8(block.count >> 8))
            deflated += [rest.isEmpty ? 1 : 0, low, high, ~low, ~high] + block
        } while !rest.isEmpty
        var (first, second) = (1, 0)
        for byte in pixels {
            first = (first + Int(byte)) % 65_521
            second = (second + first) % 65_521
        }
        let header = big(width) + big(height) + [8, 2, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header)
            + chunk("IDAT", deflated + big(second << 16 | first)) + chunk("IEND", [])
    }

    /// Returns a track of positions as a table.
    static func csv(rows: Int, latitude: Double, longitude: Double) -> [UInt8] {
        let lines = (0..<rows).map {
            "\($0),\(latitude + Double($0) * 1e-5),\(longitude + Double($0) * 2e-5),\(100 + $0 % 17)"
        }
        return Array((["second,latitude,longitude,battery"] + lines).joined(separator: "\n").utf8)
    }
}
