import AppProto
import Basics
import CommonProto
import JSON
import ProtobufJSON

/// The plans that members can choose, from a JSON file in the form of the response of `GET /api/plans`.
struct PlanCatalog: Sendable {
    private static let largestFile = 1 << 20
    private static let categories = ["fitness", "study", "life", "read"]
    private static let mostPlans = 500
    private static let mostTasks = 100

    /// The file of the program.
    static let standard = PackageResources.plans_json

    /// The plans in the order of the file.
    let plans: [CompanionPlan]
    private let byID: [Int32: CompanionPlan]

    /// - Throws: ``InvalidPlans``.
    init(json: [UInt8]) throws {
        guard json.count <= Self.largestFile else {
            throw InvalidPlans("the file has more than \(Self.largestFile) bytes")
        }
        let mapping = JSONMapping(schema: try Schema(CommonProtoFiles.all + [.appsCompanionsProto]))
        let list: ListPlansResponse
        do {
            list = try mapping.message(ListPlansResponse.self, from: json)
        } catch {
            throw InvalidPlans(
                "the file is not a list of plans in JSON: see byte \(error.offset) and the field \(error.field ?? "plans")"
            )
        }
        guard (1...Self.mostPlans).contains(list.plans.count) else {
            throw InvalidPlans("the file must have 1 to \(Self.mostPlans) plans")
        }
        for plan in list.plans { try Self.check(plan) }
        plans = list.plans
        byID = Dictionary(plans.map { ($0.id, $0) }) { first, _ in first }
        guard byID.count == plans.count else { throw InvalidPlans("two plans have the same id") }
    }

    /// Reads the file of an operator.
    ///
    /// - Throws: ``InvalidPlans``.
    init(path: String) throws {
        let bytes: [UInt8]
        do {
            bytes = try PrivateFile.contents(of: path)
        } catch {
            throw InvalidPlans("the file cannot be read: \(error)")
        }
        try self.init(json: bytes)
    }

    func plan(_ id: Int32) -> CompanionPlan? { byID[id] }

    private static func check(_ plan: CompanionPlan) throws {
        func require(_ condition: Bool, _ rule: String) throws {
            if !condition { throw InvalidPlans("plan \(plan.id): \(rule)") }
        }
        try require(plan.id > 0, "id must be above 0")
        try require(categories.contains(plan.category), "category must be one of \(categories.joined(separator: ", "))")
        try require((1...100).contains(plan.title.count), "title must be 1 to 100 characters")
        try require(plan.purpose.count <= 2000, "purpose must be at most 2000 characters")
        try require((1...366).contains(plan.days), "days must be 1 to 366")
        try require((1...mostTasks).contains(plan.tasks.count), "tasks must have 1 to \(mostTasks) entries")
        // The app recognizes a task by its name.
        try require(Set(plan.tasks).count == plan.tasks.count, "two tasks have the same name")
        try require(plan.tasks.allSatisfy { (1...200).contains($0.count) }, "each task must be 1 to 200 characters")
    }
}

/// The reason why plans cannot be used.
struct InvalidPlans: Error, Sendable, Hashable, CustomStringConvertible {
    private let reason: String

    init(_ reason: String) {
        self.reason = reason
    }

    var description: String { "apps.companions.plans_file: \(reason)" }
}
