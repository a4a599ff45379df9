import Basics
import Crypto
import Database
import GatewayAPI
package import Proto
package import RPC

extension AdminAuthService {
    package func createSiteApiKey(
        _ request: CreateSiteApiKeyRequest, context: CallContext
    ) async throws -> CreateSiteApiKeyResponse {
        try FieldRules.title(request.keyName, field: "key_name")
        let (key, credential) = try await accounts.keys.createSiteKey(
            site: request.siteID, name: request.keyName, status: try FieldRules.status(request.status),
            expiresAt: try request.expiredAt?.expiry, by: try Caller(context))
        return CreateSiteApiKeyResponse(apiKey: key.message, credential: credential.exposedText)
    }

    package func createOrRotateDeviceApiKey(
        _ request: CreateOrRotateDeviceApiKeyRequest, context: CallContext
    ) async throws -> CreateOrRotateDeviceApiKeyResponse {
        let name = request.keyName.isEmpty ? request.deviceID : request.keyName
        try FieldRules.title(name, field: "key_name")
        let mode: DeviceKeyMode
        switch request.mutationMode {
        case .unspecified: mode = .createOrRotate
        case .createOnly: mode = .createOnly
        case .rotateOnly: mode = .rotateOnly
        case .unrecognized: throw RPCError.invalidArgument("mutation_mode must be CREATE_ONLY or ROTATE_ONLY")
        }
        let (key, credential) = try await accounts.keys.createOrRotate(
            DeviceKeyOrder(
                deviceID: request.deviceID, name: name, status: try FieldRules.status(request.status),
                expiresAt: try request.expiredAt?.expiry, mode: mode),
            devices: devices, by: try Caller(context))
        return CreateOrRotateDeviceApiKeyResponse(apiKey: key.message, credential: credential.exposedText)
    }

    package func getApiKey(_ request: GetApiKeyRequest, context: CallContext) async throws -> GetApiKeyResponse {
        GetApiKeyResponse(apiKey: try await accounts.keys.find(request.apiKeyID, for: try Caller(context)).message)
    }

    package func listApiKeys(_ request: ListApiKeysRequest, context: CallContext) async throws -> ListApiKeysResponse {
        let isDevices: Bool?
        switch request.ownerKind {
        case .unspecified: isDevices = nil
        case .site: isDevices = false
        case .device: isDevices = true
        case .unrecognized: throw RPCError.invalidArgument("owner_kind must be SITE or DEVICE")
        }
        let caller = try Caller(context)
        let page = try page(
            request.pageSize, request.pageToken,
            "keys|\(request.siteID)|\(isDevices.map(String.init) ?? "")|\(request.deviceID)", for: caller)
        let keys = try await accounts.keys.list(
            siteID: request.siteID == 0 ? nil : request.siteID, isDevices: isDevices,
            deviceID: request.deviceID.isEmpty ? nil : request.deviceID, page, for: caller)
        return ListApiKeysResponse(
            apiKeys: keys.rows.map(\.message), nextPageToken: page.next(after: keys, cursor: APIKeyRegistry.cursor))
    }

    package func updateApiKey(
        _ request: UpdateApiKeyRequest, context: CallContext
    ) async throws -> UpdateApiKeyResponse {
        if let name = request.keyName { try FieldRules.title(name, field: "key_name") }
        let expiry: APIKeyRegistry.Expiry
        switch (request.expiredAt, request.clearExpiredAt) {
        case (nil, false): expiry = .asItWas
        case (nil, true): expiry = .never
        case (let end?, false): expiry = .at(try end.expiry)
        case (_?, true): throw RPCError.invalidArgument("expired_at and clear_expired_at must not both be set")
        }
        let key = try await accounts.keys.update(
            request.apiKeyID, name: request.keyName, status: try request.status.map(FieldRules.newStatus),
            expiry: expiry, by: try Caller(context))
        return UpdateApiKeyResponse(apiKey: key.message)
    }

    package func enableApiKey(
        _ request: EnableApiKeyRequest, context: CallContext
    ) async throws -> EnableApiKeyResponse {
        let key = try await accounts.keys.update(request.apiKeyID, status: .enabled, by: try Caller(context))
        return EnableApiKeyResponse(apiKey: key.message)
    }

    package func disableApiKey(
        _ request: DisableApiKeyRequest, context: CallContext
    ) async throws -> DisableApiKeyResponse {
        let key = try await accounts.keys.update(request.apiKeyID, status: .disabled, by: try Caller(context))
        return DisableApiKeyResponse(apiKey: key.message)
    }

    package func rotateApiKeySecret(
        _ request: RotateApiKeySecretRequest, context: CallContext
    ) async throws -> RotateApiKeySecretResponse {
        let (key, credential) = try await accounts.keys.rotate(request.apiKeyID, by: try Caller(context))
        return RotateApiKeySecretResponse(apiKey: key.message, credential: credential.exposedText)
    }

    package func deleteApiKey(
        _ request: DeleteApiKeyRequest, context: CallContext
    ) async throws -> DeleteApiKeyResponse {
        try await accounts.keys.delete(request.apiKeyID, by: try Caller(context))
        return DeleteApiKeyResponse()
    }
}

extension Timestamp {
    /// The value of the field `expired_at`.
    fileprivate var expiry: UnixTime {
        get throws(RPCError) {
            guard let time else { throw .invalidArgument("expired_at is not a valid time") }
            return time
        }
    }
}
