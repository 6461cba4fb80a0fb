// Requests that are joined from encoded events, beside SwiftProtobuf's.
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing

@testable internal import SightlineClient

struct RequestBytesTests {
    @Test(
        "the bytes are those of the message, at every length of a number",
        arguments: [0, 1, 123, 124, 125, 126, 127, 16_379, 16_380, 16_381, 16_382, 20_000])
    func encoded(idByteCount: Int) throws {
        let events = [TestEvents.event(String(repeating: "x", count: idByteCount)), .init()]
        let tickets = try events.map { Ticket(number: 1, bytes: try $0.serializedBytes()) }
        for (sequence, isFirst) in [(1, true), (UInt64.max, false), (300, true)] {
            var request = OutboxRequest(sequence: sequence, tickets: tickets)
            request.isFirst = isFirst
            for reportsAccepted in [true, false] {
                var message = Sightline_V1_StreamEventsRequest()
                message.sequence = sequence
                message.events = events
                if isFirst, reportsAccepted { message.options.reportAccepted = true }
                let bytes = RequestBytes.encoded(request, reportsAccepted: reportsAccepted)
                #expect(try bytes == message.serializedBytes())
                #expect(bytes.count <= request.byteCount)
            }
        }
    }

    @Test("the overhead covers the longest sequence and the options")
    func overhead() {
        var request = OutboxRequest(sequence: .max, tickets: [])
        request.isFirst = true
        let bytes = RequestBytes.encoded(request, reportsAccepted: true)
        #expect(bytes.count <= RequestLimits.requestOverheadByteCount)
    }
}
