// The published vectors of docs/vectors/postback-urls.json.
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import CampaignSink

struct PostbackVectorTests {
    private struct Row: Decodable {
        let product: String
        let broadlog_id: String
        let delivery_id: String
        let action: UInt32
        let subject_id: String
        /// The request's path and query; nil if nothing is sent.
        let request: String?
        let is_dead_letter: Bool

        var postback: Postback {
            self.product == "classic"
                ? .classic(broadlog: self.broadlog_id, delivery: self.delivery_id, tag: self.action)
                : .standard(
                    broadlog: self.broadlog_id, delivery: self.delivery_id, action: self.action,
                    subject: self.subject_id)
        }
    }

    @Test("D36, D37: each published hit has its request")
    func requests() throws {
        let rows = try JSONDecoder().decode([Row].self, from: try Vectors.data("postback-urls"))
        #expect(rows.count > 60)
        for row in rows {
            switch row.postback {
            case .query(let query): #expect("/r/\(query)" == row.request, "\(row)")
            case .nothing: #expect(row.request == nil && !row.is_dead_letter, "\(row)")
            case .refused: #expect(row.request == nil && row.is_dead_letter, "\(row)")
            }
        }
    }
}
