"""The words of the simulated radio hosts: topics with their nouns, verbs, descriptions, names and turns of speech."""

from __future__ import annotations

TOPICS = {
    "sea": "trawler tide jetty gull mooring estuary breakwater cormorant anchor driftwood skipper lobster swell buoy "
    "rowing-boat kelp lagoon ferryman squall hull",
    "kitchen": "dumpling saucepan turnip recipe oven cinnamon broth apron skillet marmalade pastry leek ladle chutney "
    "dairy pickle larder griddle custard vinegar",
    "garden": "trowel seedling compost hedge greenhouse marigold beetroot wheelbarrow pruning slug allotment sunflower "
    "trellis bulb orchard bramble mulch rosemary shed",
    "trains": "platform locomotive timetable signalman carriage viaduct junction conductor sleeper-car whistle tunnel "
    "siding buffet-car guard commuter boiler points rail",
    "sport": "goalkeeper referee marathon penalty relay pitch racket umpire sprint league cyclist javelin substitute "
    "scrum paddock sculling wrestler coach grandstand",
    "films": "projectionist matinee screenplay close-up stuntman villain usher premiere sequel foyer reel documentary "
    "popcorn cameraman subtitle cliffhanger extras western heroine",
    "weather": "drizzle thunderhead frost barometer heatwave fog hail rainbow gale thaw cloudburst humidity breeze "
    "forecast puddle lightning dew downpour sleet",
    "astronomy": "comet telescope eclipse crater satellite nebula meteorite orbit equinox observatory asteroid "
    "spectrum planet probe constellation sunspot gravity",
    "schools": "headmistress chalk satchel homework playground spelling janitor exam laboratory dormitory atlas "
    "detention textbook gymnasium recorder prize-giving",
    "crafts": "loom thimble pottery chisel varnish needlework kiln woodcut basket quilt lathe embroidery glassblower "
    "bookbinder glaze carving wool dye bobbin",
    "health": "bandage physiotherapist vaccine stethoscope midwife vitamin pulse ambulance dentist ward crutch syrup "
    "allergy appointment pharmacy spectacles nap",
    "history": "chronicle castle archivist treaty manuscript moat coronation regiment monastery plague coin rebellion "
    "portrait parliament excavation merchant scribe torchlight",
    "animals": "hedgehog stallion beaver heron kennel badger foal vet otter sparrow litter goat antler hibernation "
    "tortoise burrow weasel herd duckling",
    "markets": "invoice haggling stallholder discount wholesaler mortgage pension ledger auction coupon bargain "
    "inflation warehouse cashier tariff savings partnership",
    "language": "proverb dialect dictionary alphabet nickname riddle accent syllable translator grammar etymology pun "
    "handwriting idiom tongue-twister limerick comma pronoun",
    "travel": "passport hostel suitcase border itinerary souvenir caravan landlady guidebook customs hammock volcano "
    "pilgrim postcard embassy detour campsite",
    "machines": "gearbox piston spanner turbine fuse screwdriver crane antenna solder conveyor battery pulley "
    "valve lawnmower oilcan transistor workshop blueprint",
    "town": "councillor fountain roundabout lamppost bakery pavement mayor library roadworks bus-shelter skatepark "
    "chapel fire-engine cinema alley postman square",
    "family": "godmother twins lullaby pram in-laws anniversary heirloom cousin attic wedding inheritance babysitter "
    "birthday photograph reunion nickname grandfather",
    "books": "paperback librarian novelist chapter sonnet bookmark biography typewriter footnote publisher ghost-story "
    "manuscript shelf detective memoir bestseller preface",
}
MUSIC = (
    "single ballad waltz bassline chorus trumpet fiddle demo encore cello lyric melody drummer synthesiser tango "
    "duet rehearsal accordion overture refrain banjo quartet b-side vinyl harmonica serenade hymn riff"
)
VERBS = (
    "borrowed|repaired|forgot|painted|rescued|misplaced|described|inherited|polished|measured|traded|counted|"
    "praised|sketched|buried|ordered|weighed|defended|invented|returned|collected|auctioned|hid|mended|imported|"
    "catalogued|demolished|rebuilt|washed|tested|swapped|followed|admired|replaced|dropped|recorded|sold|designed|"
    "recommended|spotted|examined|patented|delivered|adopted|carried|discovered|restored|dusted|hauled|labelled|baked|"
    "translated|unwrapped|questioned|blamed|won|lost|kept|stole|burned|knitted|welded|planted|dismantled"
)
GOES = (
    "wandered|hurried|sailed|cycled|limped|moved|drove|marched|climbed|drifted|rolled|ran|slipped|tiptoed|travelled|"
    "retired|vanished|returned|settled|queued|waited|slept|argued|sang|rehearsed|camped|arrived|stopped|gathered"
)
ADJECTIVES = (
    "crooked|generous|rusty|enormous|secret|forgotten|damp|brilliant|noisy|second-hand|gentle|stubborn|fragile|wooden|"
    "legendary|tiny|expensive|half-finished|muddy|foreign|golden|shy|modern|haunted|striped|famous|unlucky|silent|"
    "peculiar|frozen|homemade|elegant|shabby|electric|ancient|reluctant|bright|clumsy|hollow|honest|invisible|jolly|"
    "lopsided|magnificent|narrow|obscure|portable|quarrelsome|rare|sleepy|tangled|unusual|velvet|weatherbeaten|yellow|"
    "apologetic|borrowed|celebrated|dented|eccentric|fearless|grumpy|hasty|inflatable|leaky|mysterious|nervous|old|"
    "patched|quaint|rival|spare|talkative|unpaid|vain|wobbly|young|ceremonial|experimental|municipal|provincial|amateur"
)
ADVERBS = (
    "apparently|eventually|carefully|twice|suddenly|hardly|reluctantly|cheerfully|meanwhile|accidentally|quietly|"
    "allegedly|officially|nearly|happily|rarely|seriously|stubbornly|politely|gradually|instantly|briefly|proudly|often"
)
PLACES = (
    "in the harbour|behind the town hall|on platform nine|under the old bridge|near the windmill|at the swimming pool|"
    "outside the museum|beside the canal|in a field of barley|on the roof|at the crossroads|inside a lighthouse|"
    "by the vending machine|across the valley|upstairs|round the corner|over in the next county|down at the docks|"
    "in somebody's garage|halfway up the hill|at the back of the bus|in the waiting room|below the waterfall|abroad|"
    "along the promenade|next to the fish stall|in the cellar|at a petrol station|between two warehouses|on the island"
)
TIMES = (
    "last winter|on Tuesday|before breakfast|in the spring|after the storm|a week ago|during the interval|at noon|"
    "when nobody looked|in the eighties|years ago|this morning|around midnight|by Friday|over the holidays|yesterday|"
    "since the flood|at harvest time|for a fortnight|between the showers|in a leap year|until closing time|once a month"
)
JOINTS = (
    "because|although|while|until|so|but|and|since|even though|after|before|whereas|unless|as soon as|and yet|or else|"
    "just as|now that|so that|where"
)
ASIDES = (
    "they say|I am told|believe it or not|for what it is worth|in my experience|if memory serves|to be fair|of course|"
    "funnily enough|between ourselves|against all advice|as it happens|to nobody's surprise|on reflection|mind you"
)
NUMBERS = (
    "two|three|four|five|six|seven|eight|nine|eleven|a dozen|fifteen|twenty|thirty|forty-one|sixty|ninety|a hundred"
)
STARTS = "Bra Mar Tol Kes Win Har Pen Lor Dun Fal Gre Ash Ros Tre Ol Jun El Mor Sha Bel Cas Dor Ing Nor Quin Rav Sel"
ENDS = "wick mere ford ley combe stead burn by ton haven dale low worth shaw croft ness field gate cliffe holm moor"
FIRST = (
    "Ada|Bruno|Cora|Dmitri|Edith|Farid|Greta|Hugo|Imani|Jonas|Kiran|Lena|Mateo|Nadia|Otto|Priya|Quentin|Rosa|Samir|"
    "Umberto|Vera|Wanda|Xavier|Yusuf|Zelda|Anders|Beatriz|Chidi|Dolores|Emil|Fatima|Gus|Hana|Ivo|Joan|Kaito|Lucia"
)
HELLOS = (
    "It is {clock}.|{clock}, and you are awake.|Good evening from {place}.|Right.|Where were we?|Next, then.|"
    "This is {station}.|{station}, {clock}.|You found {station}.|Still here.|Now, listen.|A change of subject."
)
BYES = (
    "More on that later.|Here comes the music.|Write to us.|Traffic after this.|We shall see.|Stay dry.|That was that.|"
    "Judge for yourselves.|Let it play.|Answers by post, please.|Turn it up.|I will find out.|Next record."
)
