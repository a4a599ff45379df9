import AppProto
import RPC

/// The service KnowledgeBaseService, which converts messages and calls the rules.
struct KnowledgeBaseService: KnowledgeBaseServiceHandler {
    let bases: KnowledgeBases

    func listKnowledgeBases(
        _ request: ListKnowledgeBasesRequest, context: CallContext
    ) async throws -> ListKnowledgeBasesResponse {
        ListKnowledgeBasesResponse(knowledgeBases: try await bases.all(context))
    }

    func createKnowledgeBase(
        _ request: CreateKnowledgeBaseRequest, context: CallContext
    ) async throws -> KnowledgeBase {
        try await bases.create(title: request.title, description: request.description, context)
    }

    func getKnowledgeBase(_ request: GetKnowledgeBaseRequest, context: CallContext) async throws -> KnowledgeBase {
        try await bases.find(request.id, context)
    }

    func updateKnowledgeBase(
        _ request: UpdateKnowledgeBaseRequest, context: CallContext
    ) async throws -> KnowledgeBase {
        try await bases.update(request.id, title: request.title, description: request.description, context)
    }

    func deleteKnowledgeBase(
        _ request: DeleteKnowledgeBaseRequest, context: CallContext
    ) async throws -> DeleteKnowledgeBaseResponse {
        try await bases.delete(request.id, context)
        return DeleteKnowledgeBaseResponse(success: true)
    }
}
