// Which encoding a client asks for, and how many may have one.
@testable internal import HTTP2Edge
internal import NIOHPACK
internal import Testing

struct AnswerEncodingTests {
    /// What a client says, and what it gets.
    struct Row: Sendable, CustomTestStringConvertible {
        let own: String?
        let accepted: [String]
        let wanted: String?

        var testDescription: String { "\(self.own ?? "plain"), accepts \(self.accepted)" }
    }

    static let rows = [
        Row(own: nil, accepted: [], wanted: nil),
        Row(own: nil, accepted: ["identity, deflate, gzip"], wanted: nil),
        Row(own: nil, accepted: ["gzip"], wanted: "gzip"),
        Row(own: nil, accepted: ["deflate,gzip"], wanted: "deflate"),
        Row(own: nil, accepted: ["deflate", "gzip"], wanted: "deflate"),
        Row(own: nil, accepted: ["zstd, gzip"], wanted: "gzip"),
        Row(own: nil, accepted: ["snappy", ""], wanted: nil),
        Row(own: "identity", accepted: ["gzip"], wanted: "gzip"),
        Row(own: "gzip", accepted: ["identity, deflate, gzip"], wanted: "gzip"),
        Row(own: "deflate", accepted: ["identity, deflate, gzip"], wanted: "deflate"),
        Row(own: "gzip", accepted: ["deflate"], wanted: "deflate"),
        Row(own: "gzip", accepted: ["identity"], wanted: nil),
        Row(own: "gzip", accepted: [], wanted: nil),
        Row(own: "snappy", accepted: ["snappy, identity"], wanted: nil),
    ]

    @Test("answers are compressed in kind, or else as the client's list begins", arguments: rows)
    func wanted(_ row: Row) {
        var headers = HPACKHeaders()
        if let own = row.own { headers.add(name: "grpc-encoding", value: own) }
        for value in row.accepted { headers.add(name: "grpc-accept-encoding", value: value) }
        #expect(AnswerEncoding.wanted(headers) == row.wanted)
    }

    @Test("one encoding is left in the list", arguments: [nil, "gzip"])
    func set(_ encoding: String?) {
        var headers: HPACKHeaders = ["grpc-accept-encoding": "deflate"]
        headers.add(name: "grpc-accept-encoding", value: "gzip")
        AnswerEncoding.set(encoding, in: &headers)
        #expect(headers["grpc-accept-encoding"] == [encoding ?? "identity"])
    }

    @Test("a budget of two is taken twice, and again what is given back")
    func budget() {
        let budget = CompressorBudget(limit: 2)
        #expect(
            [budget.take(), budget.take(), budget.take(), budget.take()]
                == [true, true, false, false])
        budget.giveBack()
        #expect(budget.take() && !budget.take())
        #expect(!CompressorBudget(limit: 0).take())
    }
}
