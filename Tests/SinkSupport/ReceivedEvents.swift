// What came to a receiver, read as a receiver would.
internal import Crypto
internal import Foundation
package import SightlineProtos
internal import SwiftProtobuf
internal import Synchronization
package import TestSupport
internal import Testing
@testable package import WebhookSink

/// A CloudEvent of a batch.
package struct ReceivedEvent {
    package let attributes: [String: String]
    package let record: Sightline_V1_TrackingRecord

    package var id: String { self.attributes["id"] ?? "" }
}

extension TestReceiver.Request {
    /// The events of its body.
    package var events: [ReceivedEvent] {
        get throws {
            let parsed = try JSONSerialization.jsonObject(with: Data(self.body))
            let events = try #require(parsed as? [[String: Any]])
            return try events.map { event in
                let data = try JSONSerialization.data(withJSONObject: try #require(event["data"]))
                return ReceivedEvent(
                    attributes: event.compactMapValues { $0 as? String },
                    record: try Sightline_V1_TrackingRecord(jsonUTF8Data: data))
            }
        }
    }

    /// Whether a signature of a key is among those of the request, worked out here.
    package func isSigned(by key: [UInt8]) -> Bool {
        let id = self.headers["webhook-id"] ?? ""
        let timestamp = self.headers["webhook-timestamp"] ?? ""
        let signed = Data("\(id).\(timestamp).".utf8) + self.body
        let code = HMAC<SHA256>.authenticationCode(for: signed, using: SymmetricKey(data: key))
        let wanted = "v1," + Data(code).base64EncodedString()
        let given = self.headers["webhook-signature"]?.split(separator: " ") ?? []
        return given.contains { $0 == wanted }
    }
}

extension TestReceiver {
    /// The events of all requests, in order.
    package var events: [ReceivedEvent] {
        get throws { try self.requests.flatMap { try $0.events } }
    }

    /// The receiver of a test's directory, made when it is first asked for.
    package static func of(_ directory: TemporaryDirectory) throws -> TestReceiver {
        try Self.byDirectory.withLock { receivers in
            if let receiver = receivers[directory.path] { return receiver }
            let receiver = try TestReceiver()
            receivers[directory.path] = receiver
            return receiver
        }
    }

    private static let byDirectory = Mutex<[String: TestReceiver]>([:])
}

extension WebhookConfiguration {
    /// The key 0…31, as the specification's libraries write it.
    package static let testSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    package static let testKey = [UInt8](0..<32)

    /// Settings for a receiver on this machine, with a secret in the directory.
    package static func test(
        _ receiver: TestReceiver, _ directory: TemporaryDirectory,
        _ change: (inout WebhookConfiguration) -> Void = { _ in }
    ) throws -> WebhookConfiguration {
        var configuration = WebhookConfiguration()
        configuration.url = "http://127.0.0.1:\(receiver.port)/hits?token=hidden"
        configuration.allow = "127.0.0.1"
        configuration.secretFile = directory.file("secret")
        try Self.testSecret.write(
            toFile: configuration.secretFile, atomically: true, encoding: .utf8)
        // Beside hundreds of other tests a request may wait for a core for seconds.
        (configuration.timeout, configuration.connectTimeout) = (.seconds(300), .seconds(300))
        change(&configuration)
        return configuration
    }
}
