import Accounts
import AppProto
import Basics
import CommonProto
import Crypto
import Database
import GRPCWire
import HTTPTypes
import Members
import RPC

/// The service ArchiveService, which converts messages and calls the rules.
struct ArchiveService: ArchiveServiceHandler {
    let owners: LibraryOwners
    let tasks: LibraryTasks
    let exports: ArchiveExport
    let imports: ArchiveImport
    let search: DigestSearch
    let accounts: MemberAccounts

    func exportArchive(
        _ request: ExportArchiveRequest, responses: ResponseWriter<HttpBody>, context: CallContext
    ) async throws {
        let owner = try await owners.owner(context)
        try await tasks.run(.exporting, of: owner) { _ in
            let archive = try await tasks.withWorkspace(.exporting) { try await exports.make(of: owner) }
            context.responseMetadata.append(
                name: "content-disposition", value: "attachment; filename=\"\(archive.name)\"")
            context.responseMetadata.append(name: "cache-control", value: "no-store")
            try await archive.file.forEachPiece { piece in
                try await responses.write(HttpBody(contentType: "application/zip", data: piece))
            }
        }
    }

    func importArchive(
        _ requests: RequestStream<HttpBody>, context: CallContext
    ) async throws -> ImportArchiveResponse {
        do {
            let owner = try await owners.owner(context)
            try await tasks.run(.importing, of: owner) { lease in
                let archive = try await imports.receive(requests)
                try await tasks.withWorkspace(.importing) {
                    try await Lease.$current.withValue(lease) { try await imports.store(archive, of: owner) }
                }
            }
        } catch {
            // A client reads the response only after it has sent everything.
            await imports.discard(requests)
            throw error
        }
        return ImportArchiveResponse(ok: true)
    }

    func getArchiveStatus(_ request: GetArchiveStatusRequest, context: CallContext) async throws -> ArchiveStatus {
        let owner = try await owners.owner(context)
        return ArchiveStatus(status: try await tasks.task(of: owner)?.rawValue ?? "normal")
    }

    func searchDigests(_ request: SearchDigestsRequest, context: CallContext) async throws -> SearchDigestsResponse {
        let owner = try await owners.owner(context)
        let found = try await search.run(try DigestQuery(request), of: owner)
        return SearchDigestsResponse(results: found.results, hasMore: found.hasMore)
    }

    func openArchiveSession(
        _ request: OpenArchiveSessionRequest, context: CallContext
    ) async throws -> OpenArchiveSessionResponse {
        let cookie = try await owners.open(name: request.name, password: Secret(request.password), context)
        context.responseMetadata.append(name: "set-cookie", value: cookie)
        return OpenArchiveSessionResponse()
    }

    func changeArchivePassword(
        _ request: ChangeArchivePasswordRequest, context: CallContext
    ) async throws -> ChangeArchivePasswordResponse {
        let cookie = try await owners.changePassword(
            name: request.name, password: Secret(request.password), new: request.newPassword, context)
        context.responseMetadata.append(name: "set-cookie", value: cookie)
        return ChangeArchivePasswordResponse()
    }

    func endArchiveSession(
        _ request: EndArchiveSessionRequest, context: CallContext
    ) async throws -> EndArchiveSessionResponse {
        context.responseMetadata.append(name: "set-cookie", value: try await owners.sessions.end(context))
        return EndArchiveSessionResponse()
    }

    func deleteArchiveAccount(
        _ request: DeleteArchiveAccountRequest, context: CallContext
    ) async throws -> DeleteArchiveAccountResponse {
        let member = try await owners.member(context)
        try await accounts.delete(member.id, from: context.peer.host)
        context.responseMetadata.append(name: "set-cookie", value: try await owners.sessions.end(context))
        return DeleteArchiveAccountResponse()
    }
}
