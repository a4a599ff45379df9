import Basics
import Crypto
import GatewayAPI
import Proto
import RPC
import StoreProtocol
import TestSupport
import Testing

@testable import CopyJobs

@Suite(.timeLimited) struct CopyPlaceTests {
    private func isListed(_ endpoint: String, bucket: String = "", region: String = "") throws -> Bool {
        let targets: [CopyTarget] = [
            .folder(FolderTarget(root: "/srv/copies")),
            .bucket(
                BucketTarget(
                    BucketLocation(
                        endpoint: try StoreEndpoint("https://s3.example.com"), bucket: "cold", region: "eu-1"),
                    dialect: .s3, credentials: SigningCredentials(accessKeyID: "AK", secret: Secret("s")),
                    partSize: 5 << 20, authorities: nil)),
        ]
        let place = CopyPlace(endpoint: endpoint, bucket: bucket, region: region)
        return targets.contains { $0.place.writer(for: place, CopyEnvironment(clock: ManualClock())) != nil }
    }

    @Test func foldersBelowARoot() throws {
        for endpoint in ["file:///srv/copies", "file:///srv/copies/", "file:///srv/copies/a/b c"] {
            #expect(try isListed(endpoint), "\(endpoint)")
        }
        for endpoint in [
            "file:///srv", "file:///srv/copies2", "file:///srv/copies/../x", "file:///srv/copies/a//b",
            "file:///srv/copies/.", "/srv/copies", "file://srv/copies", "file:///", "file://", "",
        ] {
            #expect(try !isListed(endpoint), "\(endpoint)")
        }
    }

    @Test func lengthOfAnEndpointIsLimited() throws {
        let longest = "file:///srv/copies/" + String(repeating: "x", count: 1024 - 19)
        #expect(try CopyPlace(CopyDestination(endpoint: longest)).endpoint == longest)
        let error = #expect(throws: RPCError.self) { try CopyPlace(CopyDestination(endpoint: longest + "x")) }
        #expect(error?.message == "destination.endpoint must be at most 1024 bytes")
    }

    @Test func bucketsByEndpointNameAndRegion() throws {
        #expect(try isListed("https://s3.example.com", bucket: "cold"))
        #expect(try isListed("https://s3.example.com/", bucket: "cold", region: "eu-1"))
        #expect(try !isListed("http://s3.example.com", bucket: "cold"))
        #expect(try !isListed("https://s3.example.com", bucket: "hot"))
        #expect(try !isListed("https://s3.example.com", bucket: "cold", region: "eu-2"))
        #expect(try !isListed("https://s3.example.com.evil.example", bucket: "cold"))
    }

    @Test(arguments: [
        CopyDestination(bucket: "b", endpoint: "file:///srv/copies"),
        CopyDestination(endpoint: "file:///srv/copies", region: "r"),
        CopyDestination(bucket: "cold", endpoint: "https://s3.example.com", accountID: "1"),
        CopyDestination(bucket: "cold", endpoint: "https://s3.example.com", kmsKeyID: "1"),
    ])
    func unsupportedDestinationIsRefused(destination: CopyDestination) {
        let error = #expect(throws: RPCError.self) { try CopyPlace(destination) }
        #expect(error?.detail == .invalidArgument)
    }
}
