import AppProto
import Basics
import TestSupport
import Testing

@testable import Companions

/// The rules of the published app's fields.
@Suite(.timeLimited) struct CompanionFieldTests {
    private func isValid(_ check: () throws(CompanionResult) -> Void) -> Bool {
        do throws(CompanionResult) {
            try check()
            return true
        } catch {
            return false
        }
    }

    @Test func addressesFitTheAppsExpression() {
        for text in ["a@b.cd", "Ada.L+x%y_z-1@mail.example.com", "a@b..cd", "1@-.museum"] {
            #expect(EmailAddress(text) != nil, "\(text)")
        }
        let wrong = [
            "", "a", "a@b", "@b.cd", "a@b.c", "a@b.c1", "a@.cd", "a@@b.cd", "a b@c.de", "a@b.cd\n", "é@b.cd",
            String(repeating: "a", count: 249) + "@b.cde",
        ]
        for text in wrong { #expect(EmailAddress(text) == nil, "\(text)") }
        #expect(EmailAddress("Ada@Example.COM")?.key == "ada@example.com")
    }

    @Test func namesHaveFiveCharacters() {
        #expect(isValid { () throws(CompanionResult) in try CompanionFields.username("Ada L") })
        #expect(isValid { () throws(CompanionResult) in try CompanionFields.username("史瑞琪萌达") })
        for text in ["", "Ada", String(repeating: "x", count: 65), "Ada\nLove"] {
            #expect(!isValid { () throws(CompanionResult) in try CompanionFields.username(text) }, "\(text)")
        }
    }

    @Test func ageMobileAndDateFitTheAppsExpressions() {
        for (text, expected) in [("", true), ("0", true), ("99", true), ("09", false), ("100", false), ("-1", false)] {
            #expect(isValid { () throws(CompanionResult) in try CompanionFields.age(text) } == expected, "\(text)")
        }
        for (text, expected) in [("", true), ("13800138000", true), ("23800138000", false), ("1380013800", false)] {
            #expect(isValid { () throws(CompanionResult) in try CompanionFields.mobile(text) } == expected, "\(text)")
        }
        let now = UnixTime(seconds: 1_800_000_000)
        let dates = [
            ("", true), ("2000-01-31", true), ("2000-01-1", true), ("2000-2-29", false), ("2001-02-29", false),
            ("2000-13-01", false), ("2900-01-01", false), ("0999-01-01", false), ("2000/01/01", false), ("x", false),
            ("２０００-01-01", false),
        ]
        for (text, expected) in dates {
            #expect(
                isValid { () throws(CompanionResult) in try CompanionFields.birthday(text, at: now) } == expected,
                "\(text)")
        }
    }

    @Test func plansOfTheProgramAreValid() throws {
        let plans = try PlanCatalog(json: PlanCatalog.standard)
        #expect(plans.plans.map(\.id) == [1, 2, 3, 4] && plans.plan(1)?.tasks.count == 9 && plans.plan(0) == nil)
    }

    @Test func plansThatTheAppCannotShowAreRefused() throws {
        let plan = #"{"id":1,"category":"life","title":"T","purpose":"P","days":1,"tasks":["a"]}"#
        #expect(try PlanCatalog(json: Array("{\"plans\":[\(plan)]}".utf8)).plans.map(\.id) == [1])
        let wrong = [
            "", "[]", "{\"plans\":[]}", "{\"plans\":[\(plan),\(plan)]}",
            "{\"plans\":[\(plan.replacing("[\"a\"]", with: "[]"))]}",
            "{\"plans\":[\(plan.replacing("[\"a\"]", with: "[\"a\",\"a\"]"))]}",
            "{\"plans\":[\(plan.replacing("life", with: "work"))]}",
            "{\"plans\":[\(plan.replacing("\"id\":1", with: "\"id\":0"))]}",
            "{\"plans\":[\(plan.replacing("\"id\":1", with: "\"id\":1,\"x\":1"))]}",
        ]
        for text in wrong { #expect(throws: InvalidPlans.self) { try PlanCatalog(json: Array(text.utf8)) } }
        #expect(throws: InvalidPlans("the file cannot be read: /nowhere/plans.json: No such file or directory")) {
            try PlanCatalog(path: "/nowhere/plans.json")
        }
    }
}
