// Messages of calls: requests as clients send them, and malformed variants.
internal import SightlineProtos
internal import SwiftProtobuf

/// Length-prefixed messages (gRPC over HTTP/2).
enum Messages {
    /// The message that a byte selects: plain, compressed, or with a wrong prefix.
    static func framed(_ choice: UInt8, _ input: inout ProgramReader) -> [UInt8] {
        let plain = Self.plain[Int(choice & 0x7)]
        switch choice >> 3 {
        case 0, 1: return Self.prefixed(plain)
        case 2: return Self.prefixed(Self.stored(plain), flag: 1)
        case 3: return Self.prefixed(Self.stored(plain).dropLast(3), flag: 1)
        case 4: return Self.prefixed(input.counted(), flag: input.byte())
        case 5: return Self.prefixed(plain) + Self.prefixed(plain) + Self.prefixed(plain)
        case 6: return [input.byte()] + Wire.bytes(input.number()) + input.counted()
        default: return [0] + Wire.bytes(UInt32(plain.count) &+ 1) + plain
        }
    }

    private static func prefixed(_ bytes: some Collection<UInt8>, flag: UInt8 = 0) -> [UInt8] {
        [flag] + Wire.bytes(UInt32(bytes.count)) + bytes
    }

    private static let plain: [[UInt8]] = [
        [], Self.stream(1, events: 1), Self.stream(2, events: 2), Self.record(1), [0x0a, 0xff],
        [0, 0, 0, 0, 0], Array("\u{a}\u{1c}sightline.v1.TrackingService".utf8), [0x08, 0x01],
    ]

    private static func stream(_ sequence: UInt64, events: Int) -> [UInt8] {
        Self.bytes(
            Sightline_V1_StreamEventsRequest.with {
                $0.sequence = sequence
                $0.options.reportAccepted = true
                $0.events = (0..<events).map(Self.event)
            })
    }

    private static func record(_ events: Int) -> [UInt8] {
        Self.bytes(
            Sightline_V1_RecordEventsRequest.with { $0.events = (0..<events).map(Self.event) })
    }

    private static func bytes(_ message: some Message) -> [UInt8] {
        do {
            return try message.serializedBytes()
        } catch {
            fatalError("a message cannot be written: \(error)")
        }
    }

    private static func event(_ number: Int) -> Sightline_V1_TrackingEvent {
        .with { event in
            event.eventID = "event-\(number)"
            event.appID = "com.example.app"
            event.platform = .android
            event.consent = .optedIn
            event.push.kind = .opened
            event.push.fcm.data.deliveryID = "56c4"
            event.push.fcm.data.messageID = "\(number)"
            event.push.fcm.data.acsDeliveryTracking = "on"
        }
    }

    /// gzip (RFC 1952) of one stored block (RFC 1951, section 3.2.4).
    private static func stored(_ plain: [UInt8]) -> [UInt8] {
        func little(_ number: UInt32, _ count: Int) -> [UInt8] {
            Wire.bytes(number).reversed().prefix(count).map { $0 }
        }
        let length = UInt32(plain.count)
        return [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1] + little(length, 2)
            + little(~length & 0xffff, 2) + plain + little(Self.checksum(plain), 4)
            + little(length, 4)
    }

    /// CRC-32 as gzip has it.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(.max) { checksum, byte in
            (0..<8).reduce(checksum ^ UInt32(byte)) { rest, _ in
                rest >> 1 ^ (rest & 1 == 0 ? 0 : 0xEDB8_8320)
            }
        }
    }
}
