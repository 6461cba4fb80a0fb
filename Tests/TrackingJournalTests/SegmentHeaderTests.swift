// The header of a segment, and what an interrupted write of it leaves.
internal import Storage
internal import Testing
@testable internal import TrackingJournal

struct SegmentHeaderTests {
    private static let sectorBytes = 512

    @Test("a first write that ended anywhere is no other program's file, whatever sectors it left")
    func torn() {
        let page = SegmentHeader(salt: 7, program: "Sightline").encoded()
        for written in 0...page.count {
            // Each of the two non-empty sectors is written or not.
            for kept in 0..<4 {
                var left = [UInt8](repeating: 0, count: page.count)
                left.replaceSubrange(0..<written, with: page[0..<written])
                for (bit, start) in [0, page.count / 2].enumerated() where kept & 1 << bit == 0 {
                    let sector = start..<start + Self.sectorBytes
                    left.replaceSubrange(sector, with: repeatElement(0, count: sector.count))
                }
                if case .other = SegmentStart(left[...]) {
                    Issue.record("\(written) bytes, sectors \(kept)")
                }
            }
        }
    }

    @Test(
        "a page that begins otherwise is another program's",
        arguments: ["#!/bin/sh", "SIGHTSEG", "sight is not lost", "s\u{1}"])
    func other(_ text: String) {
        let bytes = Array(text.utf8)
        let rest = [UInt8](repeating: 0, count: SegmentHeader.byteCount - bytes.count)
        guard case .other(.unknown) = SegmentStart((bytes + rest)[...]) else {
            Issue.record("\(text) is no segment")
            return
        }
    }

    @Test(
        "a header of a build before formats were numbered from 1 is known by its magic",
        arguments: [1, 2])
    func former(_ format: UInt8) {
        for offset in [0, SegmentHeader.byteCount / 2] {
            var page = [UInt8](repeating: 0, count: SegmentHeader.byteCount)
            page.replaceSubrange(offset..<offset + 9, with: Array("sightlog".utf8) + [format])
            guard case .other(.former(Int(format))) = SegmentStart(page[...]) else {
                Issue.record("\(SegmentStart(page[...]))")
                continue
            }
        }
    }
}
