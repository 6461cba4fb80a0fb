// Fuzzes events in JSON. What the transcoder takes is an event for SwiftProtobuf too, written as
// that one writes it, and what SwiftProtobuf takes of plain JSON the transcoder takes as the same.

internal import EventJSON
internal import Foundation
internal import JSON
internal import SightlineProtos
internal import SwiftProtobuf

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzJSONEvent(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: data, count: count)
    // A copy of the exact size, so that AddressSanitizer detects reads beyond it.
    let text = [UInt8](input)
    JSONEventFuzzer().run(text)
    return 0
}

private struct JSONEventFuzzer {
    private static let table = try? EventTable.own()

    func run(_ text: [UInt8]) {
        text.withUnsafeBytes { document in
            guard let table = Self.table else { return require(false, "there is no table") }
            var transcoder = EventTranscoder(document, by: table)
            do throws(JSONFault) {
                let fault = try transcoder.append()
                require(transcoder.cursor.offset <= text.count, "it reads beyond the text")
                if let fault {
                    require(transcoder.bytes.isEmpty, "a part of an event is written")
                    require(fault.rule.utf8.count < 4096, "a fault says too much")
                    return
                }
                try transcoder.cursor.finish()
                self.compare(transcoder.bytes, text)
            } catch {
                require(
                    error.offset.map { $0 <= text.count } ?? true, "a fault is beyond the text")
            }
        }
    }

    /// What is taken is an event, and the one that SwiftProtobuf reads, where that reads it.
    private func compare(_ bytes: [UInt8], _ text: [UInt8]) {
        guard let event = try? Sightline_V1_TrackingEvent(serializedBytes: bytes) else {
            fatalError("what is taken is no event")
        }
        // It reads escapes of characters from U+20000 on as others.
        guard !Self.mayHaveSupplement(bytes) else { return }
        // It takes no payload as JSON, no milliseconds, and no keys that look alike.
        guard let expected = try? Sightline_V1_TrackingEvent(jsonUTF8Bytes: text) else { return }
        require(event == expected, "it is another event than SwiftProtobuf's")
    }

    /// Whether bytes may be those of a character from U+20000 on in UTF-8.
    private static func mayHaveSupplement(_ bytes: [UInt8]) -> Bool {
        zip(bytes, bytes.dropFirst()).contains { first, second in
            (0xf1...0xf4).contains(first) || (first == 0xf0 && second >= 0xa0)
        }
    }
}
