import Basics
import CommandLineInterface
import JSON
package import Proto

/// A change of all objects that a filter matches, which the gateway makes in the background.
struct BulkChange: Sendable {
    /// The verb of the question, such as `Delete`.
    let action: String
    /// The participle of the refusal, such as `deleted`.
    let outcome: String
    /// The sentence that there are no objects to change.
    let emptiness: String
    let isDryRun: Bool
    let isConfirmed: Bool

    /// Asks for confirmation unless it is given or there is nothing to change, makes the change, and waits for its end.
    ///
    /// - Parameter call: makes the change, or only counts the objects.
    func make<Response: BulkResponse>(
        with service: ObjectManagementServiceClient<SignedInConnection>,
        _ call: (_ isDryRun: Bool) async throws -> Response
    ) async throws -> Reply {
        if !isDryRun, !isConfirmed, let counted = try await confirm(call) { return empty(counted) }
        let response = try await call(isDryRun).finished(service)
        return response.isEmpty ? empty(response) : Reply(response)
    }

    private func empty(_ response: some BulkResponse) -> Reply {
        Reply(response).framed(json: response.json, after: "\n\(emptiness)")
    }

    /// Asks for confirmation on the terminal, with the number of objects.
    ///
    /// - Returns: the response for no objects, of which there is no question.
    /// - Throws: if the user refuses, or there is no terminal.
    private func confirm<Response: BulkResponse>(
        _ call: (_ isDryRun: Bool) async throws -> Response
    ) async throws -> Response? {
        guard let terminal = try? Terminal() else {
            throw ClientFailure("without a terminal, --dry-run or --yes is required", exitCode: .usage)
        }
        let counted = try await call(true)
        if counted.isEmpty { return counted }
        let objects = TextLayout.count(counted.matchingObjects, "object")
        let size = ByteCount.text(counted.matchingBytes)
        guard terminal.confirms("\(action) \(counted.isLowerBound ? "at least " : "")\(objects), \(size)?") else {
            throw ClientFailure("nothing was \(outcome)")
        }
        return nil
    }
}

/// A response with the number of objects, and the operation that changes them.
protocol BulkResponse: Resource, Sendable {
    var matchingObjects: Int64 { get }
    var matchingBytes: Int64 { get }
    var isLowerBound: Bool { get }
    var operation: ObjectOperation? { get set }
}

extension BulkResponse {
    fileprivate var isEmpty: Bool { matchingObjects == 0 && !isLowerBound }

    package static var columns: [String] { ["matching_objects", "matching_bytes"] }

    package var fields: [ResourceField] {
        let prefix = isLowerBound ? "at least " : ""
        return [
            .number("matching_objects", matchingObjects, shownAs: "\(prefix)\(matchingObjects)"),
            ResourceField(
                name: "matching_bytes", json: .number(matchingBytes),
                text: "\(prefix)\(ByteCount.text(matchingBytes))", heading: "matching"),
            ResourceField(name: "is_lower_bound", json: .bool(isLowerBound), text: ""),
            ResourceField(
                name: "operation", json: operation?.json ?? .null, text: operation?.operationID ?? ""),
        ]
    }
}

extension BulkResponse {
    /// The time between two questions for the operation's state.
    private static var interval: Duration { .milliseconds(200) }

    /// Waits until the operation has ended. The gateway continues if this is interrupted.
    ///
    /// - Returns: the response with the operation's last state.
    func finished(_ service: ObjectManagementServiceClient<SignedInConnection>) async throws -> Self {
        var response = self
        while let operation = response.operation, operation.status == .running {
            response.operation = try await service.getObjectOperation(
                GetObjectOperationRequest(operationID: operation.operationID)
            ).operation
            if response.operation?.status == .running { try await Task.sleep(for: Self.interval) }
        }
        return response
    }
}

extension DeleteObjectsResponse: BulkResponse {}
extension RestoreObjectsResponse: BulkResponse {}
extension PurgeObjectsResponse: BulkResponse {}
extension UndoObjectOperationResponse: BulkResponse {
    var isLowerBound: Bool { false }
}
