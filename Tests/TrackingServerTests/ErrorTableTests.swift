// docs/errors.md and the code, held together both ways.
internal import Foundation
internal import GRPCCore
internal import GRPCProtobuf
internal import Testing

@testable internal import TrackingServer

struct ErrorTableTests {
    /// A line of the table, or what the code gives for a reason.
    struct Row: Equatable, CustomStringConvertible {
        var codes: Set<String> = []
        var details: Set<String> = []

        var description: String { "\(self.codes.sorted()) \(self.details.sorted())" }
    }

    /// What the library itself ends calls with.
    private static let libraryCodes: [RPCError.Code] = [
        .unimplemented, .invalidArgument, .resourceExhausted, .unavailable, .cancelled,
        .deadlineExceeded, .unknown, .internalError,
    ]

    private func written() throws -> [String: Row] {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appending(path: "docs/errors.md"), encoding: .utf8)
        var rows: [String: Row] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(cells.count == 7, "\(line)")
            let reason = cells[1].trimmingCharacters(in: ["`"])
            #expect(rows[reason] == nil, "\(reason) stands there twice")
            rows[reason] = Row(codes: Self.words(cells[2]), details: Self.words(cells[5]))
        }
        return rows
    }

    private static func words(_ cell: String) -> Set<String> {
        Set(cell.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
    }

    private func coded() throws -> [String: Row] {
        var rows: [String: Row] = [:]
        let statuses =
            ServiceErrorTests.rows.map(\.error.status)
            + Self.libraryCodes.map { EdgeTrailers.status($0, "words") }
        for status in statuses {
            let info = try #require(status.details.compactMap(\.errorInfo).first)
            var row = Row()
            row.codes = [status.code.name]
            if status.details.contains(where: { $0.badRequest != nil }) {
                row.details.insert("BadRequest")
            }
            if status.details.contains(where: { $0.quotaFailure != nil }) {
                row.details.insert("QuotaFailure")
            }
            if status.details.contains(where: { $0.retryInfo != nil }) {
                row.details.insert("RetryInfo")
            }
            let known = rows[info.reason]
            #expect(known == nil || known?.details == row.details, "\(info.reason)")
            rows[info.reason, default: row].codes.insert(status.code.name)
        }
        return rows
    }

    @Test("every reason has its line, with its codes and details, and no line is without a reason")
    func table() throws {
        let (written, coded) = (try self.written(), try self.coded())
        let reasons = Set(ServiceError.Reason.allCases.map(\.rawValue))
        #expect(Set(written.keys) == reasons)
        #expect(Set(coded.keys) == reasons, "a reason has no row in ServiceErrorTests")
        for reason in reasons.sorted() {
            #expect(written[reason] == coded[reason], "\(reason)")
        }
    }
}

extension RPCError.Code {
    /// As the standard writes it.
    fileprivate var name: String {
        self == .internalError
            ? "INTERNAL"
            : "\(self)".replacing(/[A-Z]/) { "_\($0.output)" }.uppercased()
    }
}
