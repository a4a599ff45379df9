import Basics
package import CommandLineInterface
import JSON
package import Proto

extension CreateCopyJobResponse: Resource {
    package static let columns = ["copy_job_id", "status"]

    package var fields: [ResourceField] {
        [
            .text("copy_job_id", copyJobID), .status("status", status),
            .number("total_items", Int64(totalItems)), .size("estimated_total_bytes", estimatedTotalBytes),
        ]
    }
}

extension CancelCopyJobResponse: Resource {
    package static let columns = ["copy_job_id", "status"]

    package var fields: [ResourceField] { [.text("copy_job_id", copyJobID), .status("status", status)] }
}

extension CopyJobView: Resource {
    package static let columns = ["copy_job_id", "status", "completed_items", "total_items"]

    package var fields: [ResourceField] {
        [
            .text("copy_job_id", copyJobID), .status("status", status),
            .destination("destination", destination ?? CopyDestination()),
            .number("total_items", Int64(totalItems)), .number("completed_items", Int64(completedItems)),
            .number("failed_items", Int64(failedItems)), .number("skipped_items", Int64(skippedItems)),
            .size("total_bytes", totalBytes), .size("copied_bytes", copiedBytes),
            .unixTime("created_at", createdAtUnix), .unixTime("started_at", startedAtUnix),
            .unixTime("finished_at", finishedAtUnix), .text("terminal_reason", terminalReason),
        ]
    }
}

extension CopyJobItemView: Resource {
    package static let columns = [
        "file_id", "status", "source_size", "copied_bytes", "destination_object_key", "error_message",
    ]

    package var fields: [ResourceField] {
        let name = "\(status)"
        return [
            .text("file_id", fileID), .text("destination_object_key", destinationObjectKey),
            .text("status", "COPY_ITEM_STATUS_\(name.snakeCased)", shownAs: name.words),
            .size("source_size", sourceSize),
            .size("copied_bytes", copiedBytes), .text("error_code", errorCode),
            .text("error_message", errorMessage),
        ]
    }
}

extension ResourceField {
    fileprivate static func status(_ name: String, _ status: CopyJobStatus) -> ResourceField {
        let word = "\(status)"
        return .text(name, "COPY_JOB_STATUS_\(word.snakeCased)", shownAs: word.words)
    }
}

extension ResourceField {
    fileprivate static func destination(_ name: String, _ value: CopyDestination) -> ResourceField {
        let members = [
            ("bucket", value.bucket), ("endpoint", value.endpoint), ("region", value.region),
            ("key_template", value.keyTemplate), ("account_id", value.accountID), ("kms_key_id", value.kmsKeyID),
        ]
        return ResourceField(
            name: name, json: .object(members.map { JSONValue.Member(name: $0, value: .string($1)) }),
            text: [value.endpoint, value.bucket, value.keyTemplate].filter { !$0.isEmpty }.joined(separator: " "))
    }
}

extension String {
    /// Returns e.g. `PARTIAL_FAILED` for `partialFailed`.
    var snakeCased: String { words.uppercased().replacing(bytes: [" ": "_"]) }

    /// Returns e.g. `partial failed` for `partialFailed`.
    var words: String {
        map { $0.isUppercase ? " \($0.lowercased())" : String($0) }.joined()
    }
}
