import Basics
import DeviceClient
import Proto
import StoreTesting
import TestSupport

@testable import DirectoryEngine
@testable import ObjectStore
@testable import Uploads

/// One device that uploads one file to one gateway, with the faults of a seed.
///
/// At first, faults happen at any time; then the network and both sides work, and the upload has to complete. The invariants of
/// `Rules` are checked after every step.
final class Simulation {
    private enum Event: CaseIterable {
        case deliver, send, timeOut, lose, duplicate, cut
        case startDevice, killDevice, killGateway, giveUp
        case wait, waitLong, sweep
    }

    /// The number of times that a file is begun again after an abort.
    private static let maximumUploads = 3

    let world: World
    private(set) var trace: [String] = []
    private let gateway: SimulatedGateway
    private var device: SimulatedDevice
    private let deviceID: String
    /// The last audit line before the simulation.
    private let line: Int64
    private let sabotage: Sabotage?
    private var rules = Rules()
    private var facts: Facts
    private var lot: SeededGenerator
    private var network: [Message] = []
    private var events = 0
    /// The numbers of messages, copies and replies so far.
    private var messages = 0
    private var uploads = 0

    init(seed: UInt64, in world: World, sabotage: Sabotage? = nil) throws {
        var lot = SeededGenerator(seed: seed)
        let sizes = [0, 1, World.partSize, World.partSize + 1, 3 * World.partSize, 5 * World.partSize - 7]
        let size = sizes.randomElement(using: &lot) ?? 0
        let file = SimulatedFile(size: Int(size), partSize: World.partSize, &lot)
        let caller = try world.device()
        gateway = try SimulatedGateway(world, caller, file)
        device = SimulatedDevice(file, parallel: [1, 1, 3].randomElement(using: &lot) ?? 1)
        (self.world, self.lot, self.sabotage) = (world, lot, sabotage)
        (deviceID, line) = (caller.deviceID, try world.lastLine())
        facts = try Facts(world, deviceID: caller.deviceID, after: line)
        note("a file of \(size) bytes, \(device.parallel) parts at once")
    }

    /// - Throws: `Violation`, or the device's complaint.
    func run() async throws {
        for _ in 0..<Int.random(in: 40...200, using: &lot) where !isOver {
            events += 1
            try await happen(pick())
        }
        try await finishWithoutFaults()
        try await outlive()
    }

    // MARK: Steps

    private func pick() -> Event {
        let weights = Event.allCases.map(weight)
        var left = Int.random(in: 0..<weights.reduce(0, +), using: &lot)
        for (event, weight) in zip(Event.allCases, weights) {
            left -= weight
            if left < 0 { return event }
        }
        return .deliver
    }

    /// Returns the relative frequency of the event; 0 = it cannot happen now.
    private func weight(_ event: Event) -> Int {
        switch event {
        case .deliver: arriving.isEmpty ? 0 : 60
        case .send: device.isRunning ? 40 : 0
        case .timeOut: device.waiting.isEmpty ? 0 : arriving.isEmpty ? 40 : 5
        case .lose, .duplicate: network.isEmpty ? 0 : 5
        case .cut: network.isEmpty ? 0 : 1
        case .startDevice: mayStart ? 30 : 0
        case .killDevice: device.isRunning ? 4 : 0
        case .giveUp: device.journal.isEmpty || uploads == Self.maximumUploads || world.isTight ? 0 : 1
        case .killGateway: 1
        case .waitLong: 2
        case .wait, .sweep: 4
        }
    }

    private func happen(_ event: Event) async throws {
        switch event {
        case .deliver: if let index = arriving.randomElement(using: &lot) { try await deliver(index) }
        case .send: _ = try send()
        case .timeOut:
            if let number = device.waiting.randomElement(using: &lot) {
                note("the device waits no longer for \(number)")
                device.timeOut(number)
            }
        case .lose: lose(Int.random(in: network.indices, using: &lot))
        case .duplicate:
            if let message = network.randomElement(using: &lot), case .request = message.content {
                enter(message.call, message.content, "again: ", delay: Int.random(in: 0...60, using: &lot))
            }
        case .cut:
            note("the network breaks")
            while !network.isEmpty { lose(network.count - 1) }
        case .startDevice: try startDevice()
        case .killDevice:
            note("the device is killed")
            device.end()
        case .killGateway:
            note("the gateway is killed, and starts")
            network.removeAll { if case .rest = $0.content { true } else { false } }
            try gateway.restart()
            let found = world.store.reconciliation
            guard !world.store.isForeign, found.lost == 0, found.quarantined == 0 else {
                throw Violation(rule: "a start finds nothing out of order", found: "\(found)")
            }
            try check()
        case .giveUp:
            note("the user gives the upload up")
            device.giveUp()
        case .wait: try pass([1, 30, 120].randomElement(using: &lot) ?? 1)
        case .waitLong: try pass([World.sessionIdle + 1, World.sessionTotal].randomElement(using: &lot) ?? 1)
        case .sweep: try await sweep()
        }
    }

    /// The messages that may arrive now.
    private var arriving: [Int] { network.indices.filter { network[$0].arrivesAfter <= events } }

    /// Whether nothing can happen any more.
    private var isOver: Bool { !device.isRunning && !mayStart && network.isEmpty }

    /// Whether the device could begin or continue an upload.
    private var mayStart: Bool {
        if case .completed = device.outcome { return false }
        return !device.isRunning
    }

    private func startDevice() throws {
        if device.journal.isEmpty { uploads += 1 }
        try device.start(key: "key-\(uploads)")
        note("the device starts" + (device.journal.count == 1 ? "" : " and goes on"))
    }

    /// - Returns: whether there was something to send.
    private func send() throws -> Bool {
        guard let ask = try device.nextCall() else { return false }
        let number = messages
        try rules.sent(ask.call)
        device.sent(ask, as: number)
        enter(number, .request(device.request(ask)))
        return true
    }

    private func enter(_ call: Int, _ content: Message.Content, _ prefix: String = "", delay: Int = 0) {
        network.append(
            Message(
                call: call, id: messages, sentAt: world.scene.clock.now(), arrivesAfter: events + delay,
                content: content))
        if case .request(let request) = content { note("\(messages) → \(prefix)\(request.call)") }
        messages += 1
    }

    private func lose(_ index: Int) {
        let message = network.remove(at: index)
        note("\(message.id) is lost")
        gateway.abort(message.id)
    }

    private func deliver(_ index: Int) async throws {
        var message = network.remove(at: index)
        switch message.content {
        case .request(let request):
            if request.call.hasBody {
                if let refusal = gateway.begin(message.id, request) {
                    return try sendReply(message, request.call, refusal)
                }
                message.content = .rest(request.call)
                network.append(message)
                note("\(message.id) has begun to arrive")
                try check()
            } else {
                try sendReply(message, request.call, await gateway.response(request, under: sabotage))
            }
        case .rest(let call):
            if let reply = gateway.finish(message.id) { try sendReply(message, call, reply) }
        case .reply(let reply):
            if let call = try device.receive(reply, to: message.call) {
                note("\(message.call) ← \(reply)")
                rules.delivered(reply, to: call)
                if sabotage == .partForgotten, case .part = reply { try device.forgetLastAcknowledgement() }
            }
        }
    }

    private func sendReply(_ message: Message, _ call: Call, _ reply: Reply) throws {
        note("\(message.id): \(reply)")
        rules.answered(reply, to: call)
        network.append(
            Message(call: message.call, id: messages, sentAt: world.scene.clock.now(), content: .reply(reply)))
        messages += 1
        try check()
    }

    private func pass(_ seconds: Int64) throws {
        note("\(seconds) s pass")
        world.scene.clock.advance(seconds: seconds)
        let oldest = world.scene.clock.now().adding(seconds: -Message.lifetimeSeconds)
        for index in network.indices.reversed() where network[index].sentAt < oldest { lose(index) }
    }

    private func sweep() async throws {
        note("the gateway sweeps")
        if sabotage != .sweepForgotten { try await gateway.sweep() }
        try check()
        try rules.checkSwept(facts)
    }

    private func check() throws {
        let before = facts
        facts = try Facts(world, deviceID: deviceID, after: line)
        try rules.check(facts, before: before, isStored: isStored)
    }

    private func isStored(_ fileID: String) -> Bool {
        gateway.file.isStored(at: world.store.data.path(of: fileID))
    }

    private func note(_ text: String) { trace.append(text) }

    // MARK: End of a run

    /// Runs without faults until the upload has completed.
    private func finishWithoutFaults() async throws {
        note("all is well from here")
        var idleTurns = 0
        for _ in 0..<600 {
            if case .completed = device.outcome { return }
            if !device.isRunning {
                try startDevice()
                // The user tries again later.
                if idleTurns > 0 {
                    try pass(300)
                    try await sweep()
                }
                idleTurns += 1
            } else if !network.isEmpty {
                try await deliver(0)
            } else if try !send(), let first = device.waiting.first {
                device.timeOut(first)
            }
        }
        throw Violation(rule: "every upload comes to its end once nothing fails any more")
    }

    /// Lets time pass until only the completed upload is left.
    private func outlive() async throws {
        while !network.isEmpty { try await deliver(0) }
        try pass(World.sessionTotal + World.wholeObjectGrace + 1)
        try await sweep()
        let (onDisk, referenced) = try world.files()
        try rules.checkOutlived(facts, files: onDisk, referenced: referenced, isStored: isStored)
    }
}
