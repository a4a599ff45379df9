import CAllocations
import SwiftProtobuf
import Wire

/// One message in Wire's type and in swift-protobuf's, which both encode and decode.
struct Comparison<Ours: Wire.Message, Peer: SwiftProtobuf.Message> {
    private let name: String
    private let ours: Ours
    private let peer: Peer
    private let bytes: [UInt8]
    private let repetitions: Int

    init(_ name: String, _ ours: Ours, _ peer: Peer.Type, repetitions: Int) throws {
        self.name = name
        self.ours = ours
        self.repetitions = repetitions
        bytes = ours.encoded()
        self.peer = try Peer(serializedBytes: bytes)
        let peerBytes: [UInt8] = try self.peer.serializedBytes()
        let again = try Ours(decoding: peerBytes)
        precondition(again == ours, "\(name): the two disagree")
    }

    func run() throws {
        try compare(
            "encode", ours: { ours.encoded().count },
            peer: {
                let bytes: [UInt8] = try peer.serializedBytes()
                return bytes.count
            })
        try compare(
            "decode", ours: { try Ours(decoding: bytes).unknownFields.count },
            peer: { try Peer(serializedBytes: bytes).unknownFields.data.count })
    }

    /// The two take turns, and the median of the rounds is used, so that other work on the machine affects both.
    private func compare(_ direction: String, ours: () throws -> Int, peer: () throws -> Int) throws {
        var times: (ours: [Double], peer: [Double]) = ([], [])
        for _ in 0..<31 {
            times.ours.append(try nanoseconds(ours))
            times.peer.append(try nanoseconds(peer))
        }
        figure("\(direction) \(name)", times.ours.sorted()[15], "ns", peer: times.peer.sorted()[15])
        let counts = (ours: try allocations(in: ours), peer: try allocations(in: peer))
        figure("\(direction) \(name)", counts.ours, "allocations", peer: counts.peer)
    }

    private func nanoseconds(_ body: () throws -> Int) throws -> Double {
        var sum = 0
        let elapsed = try ContinuousClock().measure { for _ in 0..<repetitions { sum &+= try body() } }
        precondition(sum >= 0)  // keeps the results, and with them the work, from being optimized away
        return elapsed / .nanoseconds(1) / Double(repetitions)
    }

    private func allocations(in body: () throws -> Int) throws -> Double {
        let before = CAllocations.allocations()
        _ = try body()
        return Double(CAllocations.allocations() - before)
    }

    private func figure(_ name: String, _ value: Double, _ unit: String, peer: Double) {
        let ratio = (value / peer * 1000).rounded() / 1000
        let quantity = #""value":\#(value.rounded()),"unit":"\#(unit)""#
        print(#"{"figure":"\#(name)",\#(quantity),"peer":"swift-protobuf 1.39.0","ratio":\#(ratio)}"#)
    }
}
