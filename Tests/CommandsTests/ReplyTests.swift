import Basics
import Foundation
import JSON
import Proto
import TestSupport
import Testing

@testable import CommandLineInterface
@testable import Commands

@Suite(.timeLimited) struct ReplyTests {
    private let device = Device(
        name: "devices/260427-000001", deviceID: "260427-000001", displayName: "Arm \"left\"\n",
        suite: "deviceSuites/7",
        tags: ["b": "2", "a": "1=1"], status: .initialized, siteID: 9_007_199_254_740_993,
        createdAt: Timestamp(seconds: 1_767_225_600, nanos: 250_000_000))

    @Test func deviceIsShownAsJSON() {
        #expect(
            Reply(device).json.text == """
                {"name":"devices/260427-000001","device_id":"260427-000001","display_name":"Arm \\"left\\"\\n",\
                "description":"","suite":"deviceSuites/7","tags":{"a":"1=1","b":"2"},\
                "status":"DEVICE_STATUS_INITIALIZED","site_id":9007199254740993,"silent_after_hours":null,\
                "sdk_version":"","platform":"","initialized_at":null,"last_seen_at":null,"last_upload_at":null,\
                "silent_since":null,\
                "created_at":"2026-01-01T00:00:00.25Z","updated_at":null,\
                "retired_at":null,"address_serial":null,"key_rotation_requested_at":null,\
                "diagnosis":null,"failed_uploads":[]}
                """)
    }

    @Test func deviceIsShownAsText() {
        #expect(
            Reply(device).text == """
                name:          devices/260427-000001
                device id:     260427-000001
                display name:  Arm "left"\\u{a}
                suite:         deviceSuites/7
                tags:          a=1=1, b=2
                status:        initialized
                site id:       9007199254740993
                created at:    2026-01-01T00:00:00Z
                """)
    }

    @Test func otherResourcesAreShownAsJSON() {
        let suite = DeviceSuite(name: "deviceSuites/7", siteID: 1, displayName: "S", description: "D")
        #expect(
            suite.json.text == """
                {"name":"deviceSuites/7","site_id":1,"display_name":"S","description":"D","silent_after_hours":null,"created_at":null,\
                "updated_at":null}
                """)
        let site = Site(siteID: 1, name: "工厂", status: 2)
        #expect(
            site.json.text == """
                {"site_id":1,"name":"工厂","state":"SITE_STATUS_DISABLED","status":2,"time_zone":"",\
                "silent_after_hours":null,"created_at":null,"updated_at":null}
                """)
        let key = ApiKey(apiKeyID: "k", keyName: "n", status: 1)
        #expect(key.json.text.contains(#""state":"API_KEY_STATUS_ENABLED","status":1,"#))
        let user = User(organization: "system", userName: "ada", role: "admin", organizationID: 1, userID: 2)
        #expect(
            user.json.text == """
                {"organization":"system","user_name":"ada","role":"admin","second_factor":"","last_login_at":null,\
                "created_at":null,"updated_at":null,"organization_id":1,"user_id":2}
                """)
    }

    @Test func listIsShownAsAJSONArray() {
        #expect(Reply("sites", [Site]()).json.text == #"{"sites":[]}"#)
        let names = Reply("sites", [Site(name: "a"), Site(name: "b")]).json
        guard case .object(let members) = names, case .array(let sites) = members.first?.value else {
            Issue.record("no list")
            return
        }
        #expect(members.map(\.name) == ["sites"])
        #expect(sites.count == 2)
    }

    @Test func listIsShownAsATable() {
        let sites = [Site(siteID: 1, name: "工厂", status: 1), Site(siteID: 22, name: "Plant", status: 3)]
        #expect(
            Reply("sites", sites).text == """
                SITE ID  NAME   STATUS   CREATED AT
                1        工厂   enabled  -
                22       Plant  3        -
                """)
        #expect(Reply("device_suites", [DeviceSuite]()).text == "no device suites")
    }

    @Test func spreadsheetHasNumbersAndWordsOfStates() throws {
        var options = OutputOptions()
        options.format = .csv
        let sites = [Site(siteID: 1, name: "A", status: 1), Site(siteID: 2, name: "B", status: 3)]
        options.columns = try OutputOptions.Columns(argument: "site_id,name,status")
        #expect(try Reply("sites", sites).text(as: options) == "site_id,name,status\n1,A,enabled\n2,B,3")
        // Programs find the columns of an empty list, too.
        #expect(try Reply("sites", [Site]()).text(as: options) == "site_id,name,status")
        options.columns = nil
        #expect(try Reply("sites", [Site]()).text(as: options) == "site_id,name,status,created_at")
    }

    @Test func timesHaveAFormForProgramsBesideTheFormerSeconds() throws {
        let object = DataObject(createdAtUnix: 1_767_225_600)
        let json = object.json.text
        #expect(json.contains(#""created_at":"2026-01-01T00:00:00Z","created_at_unix":1767225600,"#))
        #expect(json.contains(#""verified_at":null,"verified_at_unix":0,"#))
        var options = OutputOptions()
        options.format = .csv
        options.columns = try OutputOptions.Columns(argument: "created_at,created_at_unix")
        #expect(
            try Reply("objects", [object]).text(as: options)
                == "created_at,created_at_unix\n2026-01-01T00:00:00Z,1767225600")
    }

    @Test func everyTimeAndEnumOfAResourceHasANameForPrograms() {
        let resources: [any Resource] = [
            DataObject(), CopyJobView(), Site(), ApiKey(), User(), Device(), DeviceSuite(), Organization(),
            GetClockResponse(), SignedInSession(apiToken: ""),
        ]
        for field in resources.flatMap(\.fields) {
            #expect(!field.name.hasSuffix("_unix"), "\(field.name)")
            #expect(field.name != "status" || field.json.isText, "\(field.name)")
        }
    }

    /// The command has done its work when its result is written: no form of output may fail.
    @Test func everyResultHasEveryForm() throws {
        var options = OutputOptions()
        let deleted = Reply(
            json: .object([
                .init(name: "file_id", value: .string("ab,c")), .init(name: "size", value: .number(7)),
                .init(name: "until", value: .null),
            ]), text: "deleted ab,c")
        options.format = .csv
        #expect(try deleted.text(as: options) == "file_id,size,until\n\"ab,c\",7,")
        options.format = .table
        #expect(try deleted.text(as: options) == "FILE ID  SIZE  UNTIL\nab,c     7     -")
        options.columns = try OutputOptions.Columns(argument: "size")
        #expect(try deleted.text(as: options) == "SIZE\n7")
        options.columns = nil
        for format in [OutputOptions.Format.table, .wide, .csv] {
            options.format = format
            #expect(try Reply(json: .object([]), text: "signed out").text(as: options) == "signed out")
        }
    }

    /// A narrow terminal shows fewer columns; the name is cut off last.
    @Test(arguments: [
        (200, "NAME SIZE DEVICE CREATED TAGS FILE ID"), (100, "NAME SIZE DEVICE CREATED TAGS"),
        (80, "NAME SIZE CREATED TAGS"), (30, "NAME SIZE TAGS"),
    ])
    func narrowTerminalShowsFewerColumns(width: Int, header: String) throws {
        let name = "sensor_front_left_camera_2026.log"
        let object = DataObject(
            fileID: String(repeating: "f", count: 32), sizeBytes: 1_000_000, createdAtUnix: 1_767_225_600, name: name,
            deviceID: "260427-000001")
        let text = try Reply("objects", [object]).text(as: OutputOptions(), width: width)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines[0].split(separator: " ").joined(separator: " ") == header)
        #expect(lines.allSatisfy { $0.count <= width })
        #expect(lines[1].contains(name) == (width >= 80))
    }

    /// Every column of a table is a field of its resource.
    @Test func tableColumnsAreFieldsOfTheResource() {
        #expect(Site.columns.allSatisfy { column in Site().fields.contains { $0.named(column) != nil } })
        #expect(Set(User.columns).isSubset(of: User().fields.map(\.name)))
        #expect(Set(Device.columns).isSubset(of: Device().fields.map(\.name)))
        #expect(Set(DeviceSuite.columns).isSubset(of: DeviceSuite().fields.map(\.name)))
    }

    @Test func everyCharacterSurvivesJSON() throws {
        let text = (0...0x2100).compactMap(Unicode.Scalar.init).map(String.init).joined() + "😀"
        let parsed = try JSONSerialization.jsonObject(with: Data(JSONValue.array([.string(text)]).text.utf8))
        #expect(parsed as? [String] == [text])
    }

    @Test func nothingTakesHoldOfTheTerminal() {
        let attack = "\u{1B}]0;title\u{7}\u{9B}2J\u{202E}gpj\u{2028}"
        let escaped = "\\u{1b}]0;title\\u{7}\\u{9b}2J\\u{202e}gpj\\u{2028}"
        #expect(Reply(Site(name: attack)).text == "name:    \(escaped)\nstatus:  0")
        #expect(JSONValue.string(attack).text.unicodeScalars.allSatisfy { !$0.isUnprintable })
    }

    @Test(arguments: [
        (0, 0, "1970-01-01T00:00:00Z"), (-1, 999_999_999, "1969-12-31T23:59:59.999999999Z"),
        (951_782_400, 1000, "2000-02-29T00:00:00.000001Z"), (Int64.max, 0, "9999-12-31T23:59:59Z"),
        (Int64.min, -5, "1582-10-15T00:00:00Z"),
    ])
    func timesAreShownInRFC3339(seconds: Int64, nanos: Int32, text: String) {
        #expect(Timestamp(seconds: seconds, nanos: nanos).rfc3339() == text)
    }

    @Test func deviceStatusIsShownByNameOrNumber() {
        #expect(DeviceStatus.registered.protoName == "DEVICE_STATUS_REGISTERED")
        #expect(DeviceStatus.unrecognized(9).protoName == "9")
        #expect(DeviceStatus.unrecognized(9).word == "9")
    }
}

extension JSONValue {
    fileprivate var isText: Bool {
        if case .string = self { true } else { false }
    }
}
