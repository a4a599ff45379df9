import Proto
import RPC

// What the contract names and this release does not do: each answers UNIMPLEMENTED, and does nothing.

extension AdminAuthService {
    public func updateSite(_ request: UpdateSiteRequest, context: CallContext) async throws -> UpdateSiteResponse {
        throw context.notOfferedYet
    }

    public func deleteSite(_ request: DeleteSiteRequest, context: CallContext) async throws -> DeleteSiteResponse {
        throw context.notOfferedYet
    }

    public func createOrRotateDeviceApiKey(
        _ request: CreateOrRotateDeviceApiKeyRequest, context: CallContext
    ) async throws -> CreateOrRotateDeviceApiKeyResponse {
        throw context.notOfferedYet
    }

    public func listApiKeys(_ request: ListApiKeysRequest, context: CallContext) async throws -> ListApiKeysResponse {
        throw context.notOfferedYet
    }

    public func updateApiKey(
        _ request: UpdateApiKeyRequest, context: CallContext
    ) async throws -> UpdateApiKeyResponse {
        throw context.notOfferedYet
    }

    public func rotateApiKeySecret(
        _ request: RotateApiKeySecretRequest, context: CallContext
    ) async throws -> RotateApiKeySecretResponse {
        throw context.notOfferedYet
    }

    public func deleteApiKey(
        _ request: DeleteApiKeyRequest, context: CallContext
    ) async throws -> DeleteApiKeyResponse {
        throw context.notOfferedYet
    }

    public func updateOrganization(
        _ request: UpdateOrganizationRequest, context: CallContext
    ) async throws -> UpdateOrganizationResponse {
        throw context.notOfferedYet
    }

    public func deleteOrganization(
        _ request: DeleteOrganizationRequest, context: CallContext
    ) async throws -> DeleteOrganizationResponse {
        throw context.notOfferedYet
    }
}

extension UserAuthService {
    public func updateUser(_ request: UpdateUserRequest, context: CallContext) async throws -> UpdateUserResponse {
        throw context.notOfferedYet
    }

    public func deleteUser(_ request: DeleteUserRequest, context: CallContext) async throws -> DeleteUserResponse {
        throw context.notOfferedYet
    }
}

extension CallContext {
    fileprivate var notOfferedYet: RPCError { .unimplemented("\(method.name) is not offered yet") }
}
