import FuzzDriver
import FuzzEntryPoints

try fuzz(
    { data, count in
        FuzzEntryPoints.form(input(data, count))
        return 0
    }, seeds: FuzzEntryPoints.Seeds.form)
