import Basics
package import CommandLineInterface
import JSON
package import Proto

extension Device: Resource {
    package static let columns = ["device_id", "display_name", "status", "suite", "site_id", "last_seen_at"]
    package static let expendableColumns = ["site_id", "suite"]

    package var fields: [ResourceField] {
        [
            .text("name", name), .text("device_id", deviceID), .text("display_name", displayName),
            .text("description", description), .text("suite", suite), .map("tags", tags),
            .text("status", status.protoName, shownAs: status.word), .number("site_id", siteID),
            SilenceArgument.field(silentAfterHours), .text("sdk_version", sdkVersion), .text("platform", platform),
            .time("initialized_at", initializedAt),
            .time("last_seen_at", lastSeenAt), .time("last_upload_at", lastUploadAt),
            .time("silent_since", silentSince), .time("created_at", createdAt),
            .time("updated_at", updatedAt), .time("retired_at", retiredAt),
            ResourceField(
                name: "address_serial", json: addressSerial.map { .number($0) } ?? .null,
                text: addressSerial.map { "\($0)" } ?? ""),
            .time("key_rotation_requested_at", keyRotationRequestedAt),
            ResourceField(
                name: "diagnosis", json: diagnosis.map { .string($0.sentence) } ?? .null,
                text: diagnosis?.sentence ?? ""),
            .lines("failed_uploads", (diagnosis?.failedUploads ?? []).map(\.line)),
        ]
    }
}

extension FailedDeviceUpload {
    /// The time, the file and the reason.
    fileprivate var line: String {
        let time = beganAt.map { "\(LocalTime.text(UnixTime(seconds: $0.seconds))) " } ?? ""
        return "\(time)\(fileName.isEmpty ? uploadID : fileName): \(reason)"
    }
}

extension DeviceStatus {
    /// The word for people, here and in `--status`.
    var word: String {
        switch self {
        case .unspecified: "unspecified"
        case .registered: "registered"
        case .initialized: "initialized"
        case .disabled: "disabled"
        case .retired: "retired"
        case .unrecognized(let number): "\(number)"
        }
    }

    /// The name in the `.proto` file, or the number if it has none.
    var protoName: String {
        if case .unrecognized(let number) = self { return "\(number)" }
        return "DEVICE_STATUS_\(word.uppercased())"
    }
}

extension DeviceSuite: Resource {
    package static let columns = ["name", "display_name", "site_id", "created_at"]

    package var fields: [ResourceField] {
        [
            .text("name", name), .number("site_id", siteID), .text("display_name", displayName),
            .text("description", description), SilenceArgument.field(silentAfterHours), .time("created_at", createdAt),
            .time("updated_at", updatedAt),
        ]
    }
}
