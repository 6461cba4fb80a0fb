// Hit keys compared with vectors computed by Python's hashlib, in the encoding that HitKey
// documents.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules

struct HitKeyTests {
    /// An event of a tenant, and the 15 bytes of its key in hex.
    struct Vector: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let event: TestEvent
        let tenant: String
        let hex: String

        init(_ name: String, _ event: TestEvent, tenant: String = "default", _ hex: String) {
            self.testDescription = name
            self.event = event
            self.tenant = tenant
            self.hex = hex
        }
    }

    private static let pushVectors: [Vector] = [
        Vector("Standard", .apns(.opened), "f5595ffdac7478ed20f85725511927"),
        Vector("another tenant", .apns(.opened), tenant: "acme", "2e28d10a06c367b3169b06dd66bf41"),
        Vector(
            "Classic", .apns(.opened) { $0.push.product = .classic },
            "7eadd35c3afa300497598183928603"),
        Vector(
            "no app", .apns(.opened) { $0.appID = "" }, "0339f74e32b5eef6f1eb9196a08335"),
        Vector(
            "capitals in an id", .apns(.opened) { $0.push.apns.deliveryID = "56C4" },
            "c8707383d42c09fdf4d5bd39aa4d44"),
        Vector(
            "a letter moved from one id to the other",
            .apns(.opened) {
                $0.push.apns.deliveryID = "56c4h"
                $0.push.apns.messageID = "138a"
            }, "50c01bf158aaf7db62165bb4f5d666"),
        Vector(
            "a button", .apns(.opened) { $0.push.actionIdentifier = "reply" },
            "4d249e3a4815a2d447eb88bef67712"),
        Vector(
            "another button", .apns(.opened) { $0.push.actionIdentifier = "later" },
            "a5c00e0cffa82333fa25fbbb59f9a5"),
        Vector(
            "letters beyond ASCII",
            .apns(.opened) {
                $0.appID += ".ü"
                $0.push.actionIdentifier = "säve"
            }, tenant: "ténant", "0c3997b59e799c9d6f5388e95a39c6"),
        Vector(
            "every field at its limit",
            .apns(.opened) {
                $0.appID = String(repeating: "a", count: 256)
                $0.push.apns.deliveryID = String(repeating: "d", count: 64)
                $0.push.apns.messageID = String(repeating: "h", count: 64)
                $0.push.actionIdentifier = String(repeating: "b", count: 256)
            }, tenant: String(repeating: "t", count: 255), "bc059ee86fd1bf95fcd8140a1240b3"),
    ]

    @Test(
        "D17, D19, D43, D45: a push's key, by vectors: tenant, product, app, ids, button",
        arguments: pushVectors)
    func pushes(vector: Vector) throws {
        #expect(try vector.event.keyHex(tenant: vector.tenant) == vector.hex)
    }

    @Test("D17: payload, track action, kind, event id, subject and time are not part of the key")
    func notPartOfAKey() throws {
        let hex = Self.pushVectors[0].hex
        let alike: [TestEvent] = [
            .fcm(.opened), .apns(.received), .fcm(.dismissed), .action(.click),
            .action(.impression, .standard),
            .apns(.opened) { $0.push.product = .standard },
            .apns(.opened) { $0.eventID = "another" },
            .apns(.opened) { $0.subjectID = "another" },
            .apns(.opened) { $0.occurTime.seconds = 5 },
            .apns(.opened) { $0.push.apns.customFields = ["a": "b"] },
        ]
        for event in alike { #expect(try event.keyHex() == hex) }
    }

    private static let inAppVectors: [Vector] = [
        Vector("impression", .inApp(), "11c786c452a06da0bb1d0a488c454c"),
        Vector(
            "click", .inApp { $0.inApp.click.actionURL = "u" }, "8c4b54275481a4cb3b845a5d41acde"),
        Vector(
            "click without a URL (D25)", .inApp { $0.inApp.click.actionText = "t" },
            "1e3e8060bbddd7a34ef0807f66755c"),
        Vector(
            "dismissal", .inApp { $0.inApp.dismissal.type = .auto },
            "1e3e8060bbddd7a34ef0807f66755c"),
        Vector(
            "display error", .inApp { $0.inApp.displayError = .init() },
            "129e26605f0c0be66b1581753aa6c7"),
        Vector(
            "a time beside an event id is not part of it",
            .inApp { $0.occurTime.seconds = 1_800_000_000 }, "11c786c452a06da0bb1d0a488c454c"),
        Vector(
            "no event id: the time", .inApp(at: 1_800_000_000, 5),
            "337b164594fd24d86d636ae7319bd3"),
        Vector(
            "a nanosecond later", .inApp(at: 1_800_000_000, 6), "2a543463f1e2bd27d6b417d529c4af"),
        Vector("before 1970", .inApp(at: -2, 999_999_999), "50b726cd52cb1618b84240c6ff8118"),
        Vector("no subject", .inApp { $0.subjectID = "" }, "6d3ccdd83d129a10b466e5136fae4f"),
        Vector(
            "every field at its limit",
            .inApp {
                $0.appID = String(repeating: "a", count: 256)
                $0.inApp.messageID = String(repeating: "m", count: 256)
                $0.subjectID = String(repeating: "s", count: 256)
                $0.inApp.displayError = .init()
                $0.eventID = String(repeating: "e", count: 64)
            }, tenant: String(repeating: "t", count: 255), "4b39f00fa6d96cb2d6b82bc3d6b1bb"),
    ]

    @Test(
        "D30, D51: an in-app message's key, by vectors: with its event id, or with its time",
        arguments: inAppVectors)
    func inApp(vector: Vector) throws {
        #expect(try vector.event.keyHex(tenant: vector.tenant) == vector.hex)
    }

    @Test("D17: the plain notification of a button is the notification's own key")
    func plainNotification() throws {
        let event = TestEvent.apns(.opened) { $0.push.actionIdentifier = "reply" }
        let bytes = try event.bytes()
        try bytes.withUnsafeBytes { bytes in
            let tenant = Array("default".utf8)
            let view = try EventView(bytes)
            let keys = tenant.withUnsafeBytes { view.keys(tenant: $0) }
            #expect(keys.notification.hitID(.click).dropLast().hex == Self.pushVectors[0].hex)
            #expect(keys.fact != keys.notification)
        }
    }

    @Test("A hit id is the key and the hit kind's number", arguments: HitKind.allCases)
    func hitID(kind: HitKind) {
        let key = HitKey(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0fff)
        #expect(key.hitID(kind) == Array(1...15) + [kind.rawValue])
    }
}

extension Sightline_V1_TrackingEvent {
    /// An in-app impression that is identified by its time.
    fileprivate static func inApp(at seconds: Int64, _ nanos: Int32) -> Self {
        .inApp {
            $0.eventID = ""
            $0.occurTime.seconds = seconds
            $0.occurTime.nanos = nanos
        }
    }

    /// The 15 bytes of the event's key in hex.
    fileprivate func keyHex(tenant: String = "default") throws -> String {
        let tenant = Array(tenant.utf8)
        return try self.bytes().withUnsafeBytes { bytes in
            let event = try EventView(bytes)
            let key = tenant.withUnsafeBytes { event.keys(tenant: $0).fact }
            return key.hitID(.impression).dropLast().hex
        }
    }
}
