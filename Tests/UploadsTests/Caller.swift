import Accounts
import GatewayAPI
import Proto
import RPC
import Testing
import Wire

@testable import Uploads

/// A device or site that calls DataGatewayService.
struct Caller: Sendable {
    let scene: Scene
    let service: UploadService
    let principal: Principal

    init(scene: Scene, principal: Principal, service: UploadService? = nil) throws {
        self.scene = scene
        self.principal = principal
        self.service = try service ?? scene.service()
    }

    /// The device's id; empty for a site.
    var deviceID: String { if case .device(let device) = principal { device.deviceID } else { "" } }

    /// Returns the same caller at a restarted gateway.
    func at(_ service: UploadService) throws -> Caller {
        try Caller(scene: scene, principal: principal, service: service)
    }

    private func context(_ method: MethodDescriptor) -> CallContext {
        CallContext(method: method, identity: principal)
    }

    @discardableResult
    func create(
        restartFrom: String = "", hints: [String: String] = [:]
    ) async throws -> CreateLogicalUploadResponse {
        try await service.createLogicalUpload(
            CreateLogicalUploadRequest(clientHints: hints, restartFromUploadID: restartFrom),
            context: context(DataGatewayServiceMethods.createLogicalUpload))
    }

    func recovery(_ logicalID: String) async throws -> GetUploadRecoveryResponse {
        try await service.getUploadRecovery(
            GetUploadRecoveryRequest(logicalUploadID: logicalID),
            context: context(DataGatewayServiceMethods.getUploadRecovery))
    }

    func reissue(_ uploadID: String) async throws -> ReissueUploadCredentialsResponse {
        try await service.reissueUploadCredentials(
            ReissueUploadCredentialsRequest(uploadID: uploadID),
            context: context(DataGatewayServiceMethods.reissueUploadCredentials))
    }

    func find(_ files: [LocalFile]) async throws -> FindStoredFilesResponse {
        try await service.findStoredFiles(
            FindStoredFilesRequest(files: files), context: context(DataGatewayServiceMethods.findStoredFiles))
    }

    @discardableResult
    func abort(_ logicalID: String, reason: String = "no more needed") async throws -> AbortUploadResponse {
        try await service.abortUpload(
            AbortUploadRequest(logicalUploadID: logicalID, reason: reason),
            context: context(DataGatewayServiceMethods.abortUpload))
    }

    func complete(_ request: CompleteUploadRequest) async throws {
        _ = try await service.completeUpload(request, context: context(DataGatewayServiceMethods.completeUpload))
    }
}

/// Expects the call to be refused with the detail code.
func expectRefusal(
    _ code: DetailCode, sourceLocation: SourceLocation = #_sourceLocation, _ call: () async throws -> some Any
) async {
    let error = await #expect(throws: RPCError.self, sourceLocation: sourceLocation) { _ = try await call() }
    #expect(error?.detail == code, sourceLocation: sourceLocation)
}
