/// The plot of hits over time, in the coordinates of its picture, and the table of its figures.
struct PagePlot {
    /// The hits of one step.
    struct Column {
        var label: String
        var total: String
        var bars: [Bar]
    }

    /// The hits of one kind in a column.
    struct Bar {
        var kind: String
        var x: Int
        var y: Int
        var length: Int
    }

    var highest: String
    /// A step's width in words.
    var step: String
    var width: Int
    var height = 1000
    var columns: [Column] = []
    var first: String
    var end: String
    var rows: [PageSection.Row]

    /// Draws a timeline.
    init(_ timeline: Timeline) {
        let steps = timeline.steps
        let highest = max(steps.map(\.total).max() ?? 1, 1)
        self.highest = ReportNumber.grouped(highest)
        self.step = timeline.scale.text
        self.width = steps.count * 10
        self.first = timeline.label(steps.first?.start ?? 0)
        self.end = timeline.label(timeline.end)
        self.rows = steps.filter { $0.total > 0 }.map { step in
            PageSection.Row(
                key: timeline.label(step.start),
                numbers: [step.impressions, step.clicks, step.opens, step.inApp]
                    .map(ReportNumber.grouped))
        }
        self.columns = steps.enumerated().map { index, step in
            Column(
                label: timeline.label(step.start), total: ReportNumber.grouped(step.total),
                bars: self.bars(of: step, x: index * 10 + 1, highest: highest))
        }
    }

    private func bars(of step: Timeline.Step, x: Int, highest: Int) -> [Bar] {
        var y = self.height
        return [
            (step.impressions, "impressions"), (step.clicks, "clicks"), (step.opens, "opens"),
            (step.inApp, "inapp"),
        ].filter { $0.0 > 0 }.map { count, kind in
            // Any hit gets at least a thin line, if there is room.
            let share = Double(count) / Double(highest) * Double(self.height)
            let length = min(max(Int(share.rounded()), 4), y)
            y -= length
            return Bar(kind: kind, x: x, y: y, length: length)
        }
    }
}

extension Timeline {
    /// The end of the last step.
    fileprivate var end: Int64 {
        self.steps.last.map { self.scale.start(of: self.scale.index(of: $0.start) + 1) } ?? 0
    }

    /// A step's start, with seconds if steps are shorter than a minute.
    fileprivate func label(_ time: Int64) -> String {
        ReportTime.plain(time, hasSeconds: self.scale.hasSeconds, in: self.zone)
    }
}
