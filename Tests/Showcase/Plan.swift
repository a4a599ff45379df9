import Basics
import TestSupport

/// One organization of the showcase with its sites and machines.
struct PlannedOrganization {
    struct Site {
        let name: String
        /// The IANA name of the time zone in which its machines work.
        let timeZone: String
        /// The hours between its time and UTC, without daylight saving time.
        let hoursFromUTC: Int
        let latitude: Double
        let longitude: Double
    }

    /// The name in addresses.
    let name: String
    let displayName: String
    let sites: [Site]
    /// The name of its machines, which are numbered.
    let machine: String
    let fields: [String]
    /// The parts of 120 machines and of all objects that are its own.
    let share: Double
}

/// The organizations, machines and uploads of the showcase. The same seed gives the same plan.
struct Plan {
    static let organizations = [
        PlannedOrganization(
            name: "orchard-robotics", displayName: "Orchard Robotics",
            sites: [
                .init(
                    name: "Hawke's Bay", timeZone: "Pacific/Auckland", hoursFromUTC: 12, latitude: -39.49,
                    longitude: 176.91),
                .init(
                    name: "Altes Land", timeZone: "Europe/Berlin", hoursFromUTC: 1, latitude: 53.52, longitude: 9.75),
                .init(
                    name: "Yakima", timeZone: "America/Los_Angeles", hoursFromUTC: -8, latitude: 46.60,
                    longitude: -120.51),
            ], machine: "Picker", fields: ["north field", "south field", "old orchard"], share: 0.5),
        PlannedOrganization(
            name: "harbor-works", displayName: "Harbor Works",
            sites: [
                .init(
                    name: "Rotterdam", timeZone: "Europe/Amsterdam", hoursFromUTC: 1, latitude: 51.95, longitude: 4.14),
                .init(
                    name: "Singapore", timeZone: "Asia/Singapore", hoursFromUTC: 8, latitude: 1.26, longitude: 103.84),
            ], machine: "Crane", fields: ["quay 1", "quay 2", "yard"], share: 0.25),
        PlannedOrganization(
            name: "survey-institute", displayName: "Institute for Survey and Mapping",
            sites: [
                .init(
                    name: "Kathmandu valley", timeZone: "Asia/Kathmandu", hoursFromUTC: 6, latitude: 27.71,
                    longitude: 85.32),
                .init(
                    name: "Minas Gerais", timeZone: "America/Sao_Paulo", hoursFromUTC: -3, latitude: -19.92,
                    longitude: -43.94),
            ], machine: "Rover", fields: ["ridge", "valley"], share: 0.15),
        PlannedOrganization(
            name: "city-cleaning", displayName: "City Cleaning",
            sites: [
                .init(
                    name: "Depot West", timeZone: "Europe/London", hoursFromUTC: 0, latitude: 51.5, longitude: -0.2)
            ], machine: "Sweeper", fields: ["center", "riverside"], share: 0.1),
    ]

    /// One machine; its days of silence and its place are its own.
    struct Machine {
        let organization: Int
        let site: Int
        let displayName: String
        let deviceID: String
        /// The day from which on it sends nothing, counted from the first one; `nil` = it sends until the end.
        let silentFrom: Int?
    }

    /// One file that a machine uploads.
    struct File {
        let machine: Int
        let name: String
        /// The path below the folder that is uploaded; empty = it is uploaded alone.
        let path: String
        let tags: [String: String]
        let kind: Kind
        let recordedFrom: UnixTime
        let seconds: Int
    }

    enum Kind: String {
        case mcap
        case png
        case mp4
        case csv
        case yaml
        case log
    }

    /// Uploads that begin at the same time, of different machines.
    struct Batch {
        let time: UnixTime
        let files: [File]
    }

    /// The machine that uploads a folder every evening of the last days.
    static let recorder = "Picker 041"
    /// The time of day of these uploads in seconds of UTC, which is on the same date in most zones.
    private static let evening: Int64 = 18 * 3600

    let machines: [Machine]
    let batches: [Batch]

    /// - Parameters:
    ///   - days: the number of days with uploads, which end with `end`.
    ///   - objects: the number of all uploads.
    init(machines count: Int, objects: Int, days: Int, end: UnixTime, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let machines = Self.machines(count, days: days, end: end, &random)
        self.machines = machines
        let start = end.subtracting(.hours(24 * Int64(days)))
        // At least four batches a day.
        let perBatch = min(24, max(1, objects / (days * 4)))
        let batchCount = max(1, (objects + perBatch - 1) / perBatch)
        let interval = Int64(days) * 86_400 / Int64(batchCount)
        let recorder = machines.firstIndex { $0.displayName == Self.recorder }
        var left = objects
        batches = (0..<batchCount).map { number in
            let second = Int64(number) * Int64(days) * 86_400 / Int64(batchCount)
            let time = start.adding(seconds: second)
            let isEvening = (time.seconds - Self.evening + 86_400) % 86_400 < interval
            let isLate = second >= Int64(days - 4) * 86_400
            let recording =
                isEvening && isLate ? recorder.map { Self.folder(of: $0, machines, at: time, run: number) } : nil
            let active = machines.indices.filter { (machines[$0].silentFrom ?? .max) > Int(second / 86_400) }
            let chosen = Self.chosen(perBatch, of: active, machines, at: time, &random)
            let others = Self.files(of: chosen, machines, at: time, run: number, &random)
            let files = ((recording ?? []) + others).prefix(min(perBatch, left))
            left -= files.count
            return Batch(time: time, files: Array(files))
        }
    }

    private static func machines(
        _ count: Int, days: Int, end: UnixTime, _ random: inout SeededGenerator
    ) -> [Machine] {
        var machines: [Machine] = []
        for (number, organization) in organizations.enumerated() {
            let own =
                number == organizations.count - 1
                ? count - machines.count : Int((Double(count) * organization.share).rounded())
            for index in 1...max(1, own) {
                let digits = String(1000 + index).dropFirst()
                let isSilent = index % 16 == 10
                machines.append(
                    Machine(
                        organization: number, site: index % organization.sites.count,
                        displayName: "\(organization.machine) \(digits)",
                        deviceID: "26\(10 + number)01-\(String(1_000_000 + index * 37 + number).dropFirst())",
                        silentFrom: isSilent ? days - 3 - index % 14 : nil))
            }
        }
        return machines
    }

    /// Returns machines that upload at a time, in the working hours of their sites before others.
    private static func chosen(
        _ count: Int, of active: [Int], _ machines: [Machine], at time: UnixTime, _ random: inout SeededGenerator
    ) -> [Int] {
        let hour = Int(time.seconds % 86_400 / 3600)
        let (working, resting) = active.shuffled(using: &random).reduce(into: ([Int](), [Int]())) { split, index in
            let machine = machines[index]
            let local = (hour + organizations[machine.organization].sites[machine.site].hoursFromUTC + 24) % 24
            if (6..<20).contains(local) { split.0.append(index) } else { split.1.append(index) }
        }
        return Array((working + resting).prefix(count))
    }

    /// Returns one file for each machine, or a folder of files.
    private static func files(
        of chosen: [Int], _ machines: [Machine], at time: UnixTime, run: Int, _ random: inout SeededGenerator
    ) -> [File] {
        let parts = [Kind.mcap: "camera-imu-gps", .csv: "track", .png: "front", .mp4: "front", .log: "system"]
        return chosen.enumerated().flatMap { place, index in
            let machine = machines[index]
            let organization = organizations[machine.organization]
            let seconds = Int.random(in: 40...900, using: &random)
            let recordedFrom = time.adding(seconds: -Int64(seconds) - Int64.random(in: 60...7200, using: &random))
            let stamp = RFC3339.text(recordedFrom).prefix(19).replacing(":", with: "-")
            let field = organization.fields.randomElement(using: &random) ?? ""
            let slug = "\(machine.displayName)_\(field)".lowercased().replacing(" ", with: "-")
            let tags = [
                "weather": conditions(of: machine, at: recordedFrom), "field": field,
                "run": "run-\(String(10_000 + run).dropFirst())",
            ]
            let file = { (name: String, folder: String, kind: Kind, start: Int, length: Int) in
                File(
                    machine: index, name: name, path: folder.isEmpty ? "" : "\(folder)/\(name)", tags: tags, kind: kind,
                    recordedFrom: recordedFrom.adding(seconds: Int64(start)), seconds: length)
            }
            let kind = [Kind.mcap, .mcap, .mcap, .csv, .png, .log, .yaml, .mp4][(run &* 5 &+ place) % 8]
            guard kind == .yaml else {
                return [file("\(stamp)_\(slug)_\(parts[kind] ?? "").\(kind.rawValue)", "", kind, 0, seconds)]
            }
            // A recording that consists of several files, as rosbag2 writes it.
            let folder = "\(stamp)_\(slug)_rosbag2"
            let split = seconds / 3
            return [file("metadata.yaml", folder, .yaml, 0, seconds)]
                + (0..<3).map { file("\(folder)_\($0).mcap", folder, .mcap, $0 * split, split) }
        }
    }

    /// Returns a recording of the hour before the evening, with a video beside its other files.
    private static func folder(of index: Int, _ machines: [Machine], at time: UnixTime, run: Int) -> [File] {
        let (machine, seconds) = (machines[index], 600)
        let day = (time.seconds - evening) / 86_400
        let recordedFrom = UnixTime(seconds: day * 86_400 + evening - 3600)
        let folder =
            "\(RFC3339.text(recordedFrom).prefix(10))_\(machine.displayName.lowercased().replacing(" ", with: "-"))_rosbag2"
        let tags = [
            "weather": conditions(of: machine, at: recordedFrom), "run": "run-\(String(10_000 + run).dropFirst())",
        ]
        let kinds: [(String, Kind)] =
            [("metadata.yaml", .yaml)] + (0..<3).map { ("\(folder)_\($0).mcap", .mcap) } + [("front.mp4", .mp4)]
        return kinds.map { name, kind in
            File(
                machine: index, name: name, path: "\(folder)/\(name)", tags: tags, kind: kind,
                recordedFrom: recordedFrom,
                seconds: seconds)
        }
    }

    /// Returns the weather, which changes every six hours and is the same for all machines of a site.
    private static func conditions(of machine: Machine, at time: UnixTime) -> String {
        let kinds = ["rain", "sun", "sun", "fog", "wind"]
        return kinds[(Int(time.seconds / 21_600) &* 2 &+ machine.site &* 3 &+ machine.organization) % kinds.count]
    }
}
